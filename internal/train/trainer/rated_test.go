package trainer_test

import (
	"testing"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/idrl"
)

// Ratings are asked of the clips that are worth one, and of all if none is.
func TestRated(t *testing.T) {
	shown := 0
	for _, test := range []struct {
		name string
		some bool
	}{{"every third", true}, {"none", false}} {
		tr := pushes(pointmass.Config{Limit: limit})
		tr.Kind = idrl.RateClip
		tr.Encode = func(_ idrl.Environment, c idrl.Clip) ([]byte, error) { return []byte(c.ID), nil }
		want := map[idrl.ClipID]bool{}
		tr.Rated = func(clips []idrl.Clip) (out []int, err error) {
			shown = len(clips)
			for i, c := range clips {
				if string(c.Media) != string(c.ID) {
					t.Errorf("%s: clip %s is not drawn", test.name, c.ID)
				}
				if test.some && i%3 == 0 {
					out, want[c.ID] = append(out, i), true
				}
			}
			return out, nil
		}
		job := jobFor(tr)
		job.First = true
		g := train(t, tr, job)
		n := len(want)
		if !test.some {
			n = shown
		}
		if len(g.Queries) != n || n < 10 {
			t.Errorf("%s: %d questions, want %d", test.name, len(g.Queries), n)
		}
		for _, q := range g.Queries {
			if test.some && !want[q.Clips[0]] {
				t.Errorf("%s: a question about clip %s", test.name, q.Clips[0])
			}
		}
	}
}
