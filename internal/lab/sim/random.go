package sim

import (
	"math/rand/v2"
	"slices"

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
// the length of the opening clip of each episode, or of every single step. It
// plays randomEpisodes of them. Where these would be more than randomSteps steps, or would take more than randomSec,
// it begins no episode after so many, and calls see with the clips that follow
// the opening too, as long as they are whole.
func eachRandomClip(env idrl.Environment, rng *rand.Rand, see func(phi []float64, steps int), single bool) {
	spec := env.Spec()
	shown := spec.ClipSteps
	if shown <= 0 || shown > spec.Horizon {
		shown = spec.Horizon
	}
	left := randomSteps
	if spec.CostSec > 0 {
		left = min(left, 1+int(randomSec/spec.CostSec))
	}
	long := randomEpisodes*spec.Horizon > left
	for range randomEpisodes {
		if left <= 0 {
			return
		}
		phi, broken := randomEpisode(env, rng)
		left -= len(phi)
		switch {
		case broken:
		case single:
			for _, row := range phi {
				see(row, 1)
			}
		default:
			seeClips(phi, shown, long, see)
		}
	}
}

// randomEpisode returns the features of every step of an episode, and whether
// the simulation broke down.
func randomEpisode(env idrl.Environment, rng *rand.Rand) (phi [][]float64, broken bool) {
	spec := env.Spec()
	var action idrl.Action
	act := func([]float64) idrl.Action {
		if len(phi)%max(1, spec.Actions.Hold) == 0 {
			action = randomAction(spec.Actions, rng)
		}
		return action
	}
	for _, step := range idrl.Episode(env, act, rng) {
		if step.Kind != idrl.First {
			phi, broken = append(phi, slices.Clone(step.Phi)), step.Broken
		}
	}
	return phi, broken
}

// seeClips calls see with the opening clip of an episode, and if all are wanted
// with the whole clips that follow it.
func seeClips(phi [][]float64, shown int, all bool, see func(phi []float64, steps int)) {
	sum := make([]float64, len(phi[0]))
	n := min(shown, len(phi))
	for start := 0; start+n <= len(phi) && (start == 0 || all); start += n {
		clear(sum)
		for _, row := range phi[start : start+n] {
			floats.Add(sum, row)
		}
		see(sum, n)
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
