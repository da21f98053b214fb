package solver_test

import (
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
)

// expected returns the expected sum of θ·φ over steps from, …, to−1 of an episode in which act says the action in a state
// after t steps.
func expected(env *finite, theta []float64, from, to int, act func(s, t int) int) float64 {
	at, sum := env.start, 0.0
	for t := range to {
		next := make([]float64, len(at))
		for s, p := range at {
			floats.AddScaled(next, p, env.p[s][act(s, t)])
		}
		for s, p := range next {
			if t >= from {
				sum += p * floats.Dot(theta, env.phi.RawRowView(s))
			}
		}
		at = next
	}
	return sum
}

// TestWalkIsBest compares a walk with every sequence of actions by state and step, in an environment so small that all
// can be tried.
func TestWalkIsBest(t *testing.T) {
	for seed := range uint64(20) {
		stream := rng.New(seed, "mdp", 0)
		env := randomMDP(2, 2, 0.9, stream)
		theta := []float64{stream.NormFloat64(), stream.NormFloat64()}
		for _, span := range [][2]int{{0, 3}, {1, 2}, {2, 1}} {
			from, n := span[0], span[1]
			walk := solver.Prepare(env).Walk(theta, from, n)
			action := make(idrl.Action, 1)
			got := expected(env, theta, from, from+n, func(s, t int) int {
				return int(walk.ActAt(action, []float64{float64(s)}, t, nil)[0])
			})
			best := math.Inf(-1)
			for code := range 729 { // 3 actions in 2 states at 3 steps
				best = max(best, expected(env, theta, from, from+n, func(s, t int) int {
					digit := code
					for range 2*t + s {
						digit /= 3
					}
					return digit % 3
				}))
			}
			if !scalar.EqualWithinAbsOrRel(got, best, 1e-12, 1e-12) {
				t.Errorf("seed %d, %d steps from step %d: the walk has %v, the best policy %v", seed, n, from, got, best)
			}
		}
	}
}
