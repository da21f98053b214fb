package sim

import (
	"math/rand/v2"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// eachState calls see with the features of every state.
func eachState(env idrl.Tabular, see func(phi []float64)) {
	n := env.NumStates()
	phi := mat.NewDense(n, env.Spec().FeatureDim(), nil)
	env.Features(phi)
	for s := range n {
		see(phi.RawRowView(s))
	}
}

// eachRandomClip plays episodes of random actions, each held as long as
// open-loop policies hold theirs, and calls see with the summed features and
// the length of the opening clip of each episode, or of every single step.
func eachRandomClip(env idrl.Environment, rng *rand.Rand, see func(phi []float64, steps int), single bool) {
	spec := env.Spec()
	sum := make([]float64, spec.FeatureDim())
	shown := spec.ClipSteps
	if shown <= 0 || shown > spec.Horizon {
		shown = spec.Horizon
	}
	for range randomEpisodes {
		clear(sum)
		n := 0
		var action idrl.Action
		for step := env.Reset(rng); !step.Kind.Last(); n++ {
			if n%max(1, spec.Actions.Hold) == 0 {
				action = randomAction(spec.Actions, rng)
			}
			step = env.Step(action)
			switch {
			case single:
				see(step.Phi, 1)
			case n < shown:
				floats.Add(sum, step.Phi)
			}
		}
		if !single {
			see(sum, min(n, shown))
		}
	}
}

// randomAction draws a uniformly random action.
func randomAction(spec idrl.ActionSpec, rng *rand.Rand) idrl.Action {
	if spec.Num > 0 {
		return idrl.Action{float64(rng.IntN(spec.Num))}
	}
	a := make(idrl.Action, spec.Dim())
	for i := range a {
		a[i] = spec.Low[i] + (spec.High[i]-spec.Low[i])*rng.Float64()
	}
	return a
}
