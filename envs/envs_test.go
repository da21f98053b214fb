package envs_test

import (
	"slices"
	"strings"
	"testing"

	"tiebreak/envs"
	"tiebreak/envs/envtest"
	"tiebreak/internal/clip"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
)

// TestCatalogue runs the contract on every entry, so that none is forgotten.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range envs.Catalogue() {
		t.Run(e.ID, func(t *testing.T) {
			newEnv := func() idrl.Environment { return e.New(rng.New(7, "layout", 0)) }
			if got := newEnv().Spec().ID; got != e.ID {
				t.Errorf("the environment calls itself %q", got)
			}
			if seen[e.ID] || e.Title == "" || e.Description == "" {
				t.Error("the entry has a repeated id, no title or no description")
			}
			seen[e.ID] = true
			envtest.Run(t, newEnv)
		})
	}
}

func TestFind(t *testing.T) {
	for _, e := range envs.Catalogue() {
		if got, err := envs.Find(e.ID); err != nil || got.ID != e.ID {
			t.Errorf("Find(%q) = %q, %v", e.ID, got.ID, err)
		}
	}
	_, err := envs.Find("drver")
	if idrl.KindOf(err) != idrl.Invalid || err == nil {
		t.Fatalf("Find of an unknown id returns %v, want an error of kind Invalid", err)
	}
	for _, want := range []string{`"drver"`, "driver", "gridworld"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not mention %s", err, want)
		}
	}
}

// maxClip is what a clip may weigh, bytes. Two of them are on their way for
// each of three questions ahead.
const maxClip = 4096

// TestClipsAreSmall encodes clips of uniformly random held actions, which move
// less regularly than those of any policy that optimises something.
func TestClipsAreSmall(t *testing.T) {
	for _, e := range envs.Catalogue() {
		t.Run(e.ID, func(t *testing.T) {
			sizes := make([]int, 40)
			for n := range sizes {
				env := e.New(rng.New(uint64(n), "layout", 0))
				b, err := clip.Encode(env, idrl.Segment(drive(env, uint64(n)), 0, env.Spec().ClipSteps))
				if err != nil {
					t.Fatal(err)
				}
				sizes[n] = len(b)
			}
			slices.Sort(sizes)
			t.Logf("bytes: least %d, median %d, most %d", sizes[0], sizes[len(sizes)/2], sizes[len(sizes)-1])
			if most := sizes[len(sizes)-1]; most > maxClip {
				t.Errorf("a clip has %d bytes, more than %d", most, maxClip)
			}
		})
	}
}

// drive records an episode of random held actions.
func drive(env idrl.Environment, n uint64) *idrl.Trajectory {
	spec := env.Spec()
	stream := rng.New(8, "drive", n)
	keeper := env.(idrl.Snapshotter)
	tr := &idrl.Trajectory{Env: spec.ID}
	step := env.Reset(stream)
	tr.Snapshots = append(tr.Snapshots, keeper.Snapshot(nil))
	var a idrl.Action
	for k := 0; !step.Kind.Last(); k++ {
		if k%max(1, spec.Actions.Hold) == 0 {
			a = make(idrl.Action, spec.Actions.Dim())
			for i := range a {
				if spec.Actions.Num > 0 {
					a[i] = float64(stream.IntN(spec.Actions.Num))
				} else {
					a[i] = spec.Actions.Low[i] + (spec.Actions.High[i]-spec.Actions.Low[i])*stream.Float64()
				}
			}
		}
		step = env.Step(a)
		tr.Actions = append(tr.Actions, a)
		tr.Phi = append(tr.Phi, slices.Clone(step.Phi))
		tr.Snapshots = append(tr.Snapshots, keeper.Snapshot(nil))
		tr.End = step.Kind
	}
	return tr
}
