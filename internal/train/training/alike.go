package training

import (
	"math"
	"slices"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// Alike reports whether two environments show and do the same in an episode of random actions.
func Alike(a, b idrl.Environment) bool {
	trace := func(env idrl.Environment) (out []float64) {
		stream, actions := rng.New(0, "alike", 0), rng.New(0, "alike actions", 0)
		spec := env.Spec()
		action := make(idrl.Action, spec.Actions.Dim())
		note := func(step idrl.TimeStep) {
			out = append(append(out, step.Obs...), step.Phi...)
			if d, ok := env.(drawing.Drawer); ok {
				var scene drawing.Scene
				d.Draw(&scene)
				for _, s := range slices.Concat(scene.Static, scene.Moving) {
					out = append(append(out, float64(len(s.Pts))), s.Pts...)
				}
			}
		}
		note(env.Reset(stream))
		for range 50 {
			for i := range spec.Actions.Low {
				low, high := max(-1, spec.Actions.Low[i]), min(1, spec.Actions.High[i])
				action[i] = low + actions.Float64()*(high-low)
			}
			if n := spec.Actions.Num; n > 0 {
				action[0] = float64(actions.IntN(n))
			}
			step := env.Step(action)
			note(step)
			if step.Kind.Last() {
				break
			}
		}
		return out
	}
	return slices.EqualFunc(trace(a), trace(b), func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}
