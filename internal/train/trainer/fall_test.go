package trainer_test

import (
	"math"
	"testing"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/idrl"
)

// ledge is a point mass that has fallen while it is over an edge.
type ledge struct {
	*pointmass.Env
	edge float64 // metres from the origin
}

func (l ledge) Fallen() bool { return over(l.Snapshot(nil), l.edge) }

func over(snapshot []float64, edge float64) bool { return math.Abs(snapshot[1]) > edge }

// Of a rollout that falls there are clips from before the fall and one that shows it,
// and none of what comes after.
func TestClipsEndAtAFall(t *testing.T) {
	for _, kind := range []idrl.QueryKind{idrl.CompareClips, idrl.CompareStates} {
		t.Run(string(kind), func(t *testing.T) {
			tr := pushes(pointmass.Config{})
			tr.Kind, tr.Segments = kind, 6
			tr.NewEnv = func() idrl.Environment { return ledge{pointmass.New(pointmass.Config{}), 4} }
			job := jobFor(tr)
			job.BasedOn, job.First = 0, true
			g := train(t, tr, job)
			shown, before, falls := map[idrl.TrajectoryID]int{}, 0, 0
			for _, c := range g.Clips {
				first, last := c.Snapshots[0], c.Snapshots[len(c.Snapshots)-1]
				switch {
				case c.Steps > 0 && over(first, 4):
					t.Errorf("clip %s of %s, step %d, begins after the fall", c.ID, c.From, c.Start)
				case !over(last, 4):
					before++
				default:
					falls++
					shown[c.From]++
				}
			}
			for from, n := range shown {
				if n > 1 {
					t.Errorf("%d clips show the fall of %s", n, from)
				}
			}
			if before == 0 || falls == 0 {
				t.Errorf("%d clips before a fall and %d that show one; the test is to have both", before, falls)
			}
		})
	}
}

// With AfterFalls clips are those of an environment that cannot tell.
func TestClipsAfterAFall(t *testing.T) {
	made := func(falls bool) map[idrl.ClipID]idrl.Clip {
		tr := pushes(pointmass.Config{})
		tr.Segments, tr.AfterFalls = 6, true
		tr.NewEnv = func() idrl.Environment {
			if falls {
				return ledge{pointmass.New(pointmass.Config{}), 4}
			}
			return pointmass.New(pointmass.Config{})
		}
		job := jobFor(tr)
		job.BasedOn, job.First = 0, true
		return train(t, tr, job).Clips
	}
	fallen, after := made(true), 0
	for id := range made(false) {
		c, ok := fallen[id]
		if !ok {
			t.Errorf("clip %s is missing", id)
		} else if over(c.Snapshots[0], 4) {
			after++
		}
	}
	if after == 0 {
		t.Error("no clip begins after a fall; the test is to have some")
	}
}

// Where nothing falls the clips are those of an environment that cannot tell.
func TestClipsWithoutAFall(t *testing.T) {
	ids := func(newEnv func() idrl.Environment) map[idrl.ClipID]bool {
		tr := pushes(pointmass.Config{})
		tr.NewEnv = newEnv
		out := map[idrl.ClipID]bool{}
		for id := range train(t, tr, jobFor(tr)).Clips {
			out[id] = true
		}
		return out
	}
	plain := ids(func() idrl.Environment { return pointmass.New(pointmass.Config{}) })
	high := ids(func() idrl.Environment { return ledge{pointmass.New(pointmass.Config{}), math.Inf(1)} })
	if len(plain) == 0 || len(plain) != len(high) {
		t.Fatalf("%d clips and %d", len(plain), len(high))
	}
	for id := range plain {
		if !high[id] {
			t.Errorf("clip %s is missing", id)
		}
	}
}

// wheel is a ledge whose point mass turns over by its way.
type wheel struct{ ledge }

func (w wheel) Turned() float64 { return 100 * w.Snapshot(nil)[1] }

// While what has fallen turns over there are clips of it.
func TestClipsOfTurns(t *testing.T) {
	tr := pushes(pointmass.Config{})
	tr.Segments = 6
	tr.NewEnv = func() idrl.Environment { return wheel{ledge{pointmass.New(pointmass.Config{}), 4}} }
	job := jobFor(tr)
	job.BasedOn, job.First = 0, true
	after := 0
	for _, c := range train(t, tr, job).Clips {
		if over(c.Snapshots[0], 4) {
			after++
		}
	}
	if after == 0 {
		t.Error("no clip begins while the mass turns over beyond the edge; the test is to have some")
	}
}
