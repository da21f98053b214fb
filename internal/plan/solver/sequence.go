package solver

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"
)

// ActionSequence maximises the return of a differentiable environment over the
// held actions of an episode, by projected BFGS from several starts. Optima of
// such problems sit on the bounds, where projection beats squashing the actions
// (docs/methods.md, section 5).
//
// It starts from the best two of the warm starts and from Restarts uniformly
// random action sequences, at least one if there is no warm start. Of equally
// good results the first is taken, warm starts before random ones. So for
// θ = 0, for which all policies are equally good, it returns the first warm start.
type ActionSequence struct{}

var _ idrl.Solver = ActionSequence{}

// warmStarts is the number of warm starts that are improved; evaluating one is
// some two hundred times cheaper than improving it.
const warmStarts = 2

// Solve returns an *OpenLoop policy. It returns an error of kind Invalid if the
// environment is not differentiable, or if Theta or a warm start does not fit it.
func (ActionSequence) Solve(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) (idrl.Policy, error) {
	env, ok := task.Env.(idrl.Differentiable)
	if !ok {
		return nil, idrl.Errorf(idrl.Invalid, "environment %q is not differentiable", task.Env.Spec().ID)
	}
	if err := checkTheta(task); err != nil {
		return nil, err
	}
	starts, err := warm(env, task)
	if err != nil {
		return nil, err
	}
	m := newMinimiser(bounds(env.Spec()))
	m.f = func(grad, x []float64) float64 {
		v := -env.Return(grad, x, task.Theta)
		for i := range grad {
			grad[i] = -grad[i]
		}
		return v
	}
	restarts := task.Restarts
	if len(starts) == 0 {
		restarts = max(1, restarts)
	}
	for range restarts {
		starts = append(starts, m.random(rng))
	}
	best, bestValue := starts[0], math.Inf(1)
	for _, x := range starts {
		v, err := m.run(ctx, x)
		if err != nil {
			return nil, err
		}
		if v < bestValue {
			best, bestValue = x, v
		}
	}
	return newOpenLoop(env.Spec(), best)
}

// warm returns copies of the best warm starts of task, the best first.
func warm(env idrl.Differentiable, task idrl.SolveTask) ([][]float64, error) {
	type start struct {
		x     []float64
		value float64
	}
	var all []start
	for _, x := range task.Warm {
		if _, err := newOpenLoop(env.Spec(), x); err != nil {
			return nil, err
		}
		all = append(all, start{x, env.Return(nil, x, task.Theta)})
	}
	slices.SortStableFunc(all, func(a, b start) int { return cmp.Compare(b.value, a.value) })
	all = slices.CompactFunc(all, func(a, b start) bool { return slices.Equal(a.x, b.x) })
	var out [][]float64
	for _, s := range all[:min(warmStarts, len(all))] {
		out = append(out, slices.Clone(s.x))
	}
	return out, nil
}

// bounds returns the bounds of the held actions of an episode.
func bounds(spec idrl.EnvSpec) (low, high []float64) {
	for range numActions(spec) {
		low = append(low, spec.Actions.Low...)
		high = append(high, spec.Actions.High...)
	}
	return low, high
}
