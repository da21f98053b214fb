// Package sim holds what only benchmarks, rehearsals and tests may know: true
// rewards, and experts that answer by them.
package sim

import (
	"math"
	"math/rand/v2"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A Task is an environment with a true reward.
type Task struct {
	Env   string    // EnvSpec.ID
	Theta []float64 // true reward weights, length d
}

// NewTask draws a true reward for the environment that spec describes.
//
//   - "driver": four independent normals scaled to norm 0.5, and 0.5 for the
//     constant feature, as in the paper's code.
//   - "gridworld" and its variants: uniform on [-1, 1] for each object type, 0
//     for the floor (the first feature), and then shifted and scaled so that
//     the weights span [0, 1], as in the paper's code.
//   - any other: independent standard normals.
func NewTask(envID string, spec idrl.EnvSpec, rng *rand.Rand) Task {
	theta := make([]float64, spec.FeatureDim())
	switch family(envID) {
	case "driver":
		free := theta[:len(theta)-1]
		normals(free, rng)
		floats.Scale(0.5/floats.Norm(free, 2), free)
		theta[len(theta)-1] = 0.5
	case "gridworld":
		for i := 1; i < len(theta); i++ {
			theta[i] = 2*rng.Float64() - 1
		}
		low, high := floats.Min(theta), floats.Max(theta)
		for i := range theta {
			theta[i] = (theta[i] - low) / (high - low)
		}
	default:
		normals(theta, rng)
	}
	return Task{Env: envID, Theta: theta}
}

// family returns the part of an environment's id before the first hyphen:
// "gridworld-dense" is a gridworld.
func family(envID string) string {
	for i, c := range envID {
		if c == '-' {
			return envID[:i]
		}
	}
	return envID
}

func normals(dst []float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
}

// randomEpisodes is the number of episodes behind Range.
const randomEpisodes = 200

// Range returns the scale of θ·X over questions of a kind: for comparisons the
// largest difference, for ratings the largest size, over what random actions
// meet in env (over all states if it is tabular and the question is about
// states). Clips that are better than anything random exceed it. It is never 0.
func Range(env idrl.Environment, theta []float64, kind idrl.QueryKind, rng *rand.Rand) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	see := func(x []float64, scale float64) {
		u := floats.Dot(theta, x) * scale
		low, high = min(low, u), max(high, u)
	}
	if t, ok := env.(idrl.Tabular); ok && kind.Still() {
		eachState(t, func(phi []float64) { see(phi, 1) })
	} else {
		eachRandomClip(env, rng, func(phi []float64, steps int) {
			scale := 1.0
			if kind == idrl.RateClip {
				scale = 1 / float64(steps)
			}
			see(phi, scale)
		}, kind.Still())
	}
	size := high - low
	if !kind.Comparison() {
		size = max(high, -low)
	}
	if !(size > 0) { // so that NaN fails
		return 1
	}
	return size
}
