package solver

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// Draft is a fast solver for environments with continuous actions, for the first
// clips of a session, which must be ready within seconds.
//
// Of several warm starts it returns the one with the highest return under Theta
// in one episode, which begins in the same state and draws the same noise for
// all. A policy that breaks down in it comes last; of equal ones the first is taken. A
// single warm start is returned without an episode.
//
// Without warm starts the result is a random linear policy, whatever Theta is:
// the weights of action i are independent draws from N(0, s²/ObsDim), where s is
// half the width of its bounds, or 1 if that is infinite. So for observations of
// unit size the action has standard deviation s, and is clipped at bounds around
// 0 about one time in three. A caller that needs different policies gives no warm
// starts. Restarts are ignored.
type Draft struct{}

var _ idrl.Solver = Draft{}

// Solve returns a *Linear policy. It returns an error of kind Invalid if the
// environment has discrete actions, or if Theta or a warm start does not fit it.
func (Draft) Solve(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) (idrl.Policy, error) {
	spec := task.Env.Spec()
	if err := checkBox(spec); err != nil {
		return nil, err
	}
	if err := checkTheta(task); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	starts := make([]*Linear, len(task.Warm))
	for i, w := range task.Warm {
		var err error
		if starts[i], err = NewLinear(spec, w); err != nil {
			return nil, err
		}
	}
	switch len(starts) {
	case 0:
		return NewLinear(spec, randomWeights(spec, rng))
	case 1:
		return starts[0], nil
	default:
		return bestOfOne(ctx, task, starts, rng)
	}
}

// bestOfOne returns the best of the policies in one common episode.
func bestOfOne(ctx context.Context, task idrl.SolveTask, policies []*Linear, rng *rand.Rand) (*Linear, error) {
	seed := seeds(rng, 1)[0]
	mu := make([]float64, len(task.Theta))
	best, bestValue := policies[0], math.Inf(-1)
	for _, p := range policies {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(mu)
		_, broken := addEpisode(mu, task.Env, p, stream(seed))
		if v := floats.Dot(mu, task.Theta); !broken && v > bestValue {
			best, bestValue = p, v
		}
	}
	return best, nil
}

// randomWeights returns W by rows.
func randomWeights(spec idrl.EnvSpec, rng *rand.Rand) []float64 {
	rows := matrix(spec.Actions.Dim(), spec.ObsDim)
	for i, row := range rows {
		half := (spec.Actions.High[i] - spec.Actions.Low[i]) / 2
		if math.IsInf(half, 0) {
			half = 1
		}
		for j := range row {
			row[j] = half / math.Sqrt(float64(spec.ObsDim)) * rng.NormFloat64()
		}
	}
	return slices.Concat(rows...)
}
