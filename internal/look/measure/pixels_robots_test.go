//go:build mujoco

package measure_test

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/plan/solver"
)

// Of clips of robots under random policies that are shown as pictures none is left out that people can
// answer as scenes, and half of those that are still are found: the rule is cautious.
func TestPixelsOfRobots(t *testing.T) {
	pairs, lost, still, found := 0, 0, 0, 0
	for _, id := range []string{"hopper", "swimmer-corridor"} {
		env := environment(t, id)
		drafts, places := rng.New(7, "pool", 0), rng.New(7, "places", 0)
		var scenes, pixels []*measure.View
		for range 5 {
			p := must.Get(solver.Draft{}.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: make([]float64, env.Spec().FeatureDim())}, drafts))(t)
			tr := record(env, p, 0)
			n := min(env.Spec().ClipSteps, tr.Len())
			for range 2 {
				scene, view := painted(t, env, idrl.Segment(tr, places.IntN(tr.Len()-n+1), n))
				scenes, pixels = append(scenes, scene), append(pixels, view)
				if scene.Still() {
					still++
					if view.Still() {
						found++
					}
				} else if view.Still() {
					t.Errorf("%s: a clip with the motion %v is still as pictures", id, scene.Motion())
				}
			}
		}
		for i := range scenes {
			for j := range i {
				scene := must.Get(measure.Answerable(scenes[j], scenes[i]))(t)
				seen := must.Get(measure.Answerable(pixels[j], pixels[i]))(t)
				if pairs++; scene && !seen {
					lost++
				}
			}
		}
	}
	t.Logf("%d pairs, of which %d are answerable as scenes and not as pictures; %d of %d still clips are found", pairs, lost, found, still)
	if lost > 0 || 2*found < still {
		t.Errorf("of %d pairs %d are answerable as scenes and not as pictures; %d of %d still clips are found", pairs, lost, found, still)
	}
}
