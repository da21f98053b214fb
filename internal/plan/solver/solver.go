package solver

import (
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// For returns the solver that fits env, or an error of kind Invalid if none does.
func For(env idrl.Environment) (idrl.Solver, error) {
	switch env.(type) {
	case idrl.Tabular:
		return Tabular{}, nil
	case idrl.Differentiable:
		return ActionSequence{}, nil
	}
	if spec := env.Spec(); isBox(spec) {
		return ARSFor(spec), nil
	}
	return nil, unsolvable(env)
}

// FromParams returns the policy of the class of For(env) that has these
// Params. It returns an error of kind Invalid if they do not fit env.
func FromParams(env idrl.Environment, params []float64) (idrl.Policy, error) {
	switch env := env.(type) {
	case idrl.Tabular:
		return newTabularPolicy(env, params)
	case idrl.Differentiable:
		return newOpenLoop(env.Spec(), params)
	}
	if spec := env.Spec(); isBox(spec) {
		return NewLinear(spec, params)
	}
	return nil, unsolvable(env)
}

func unsolvable(env idrl.Environment) error {
	return idrl.Errorf(idrl.Invalid, "no solver fits environment %q: its actions are discrete, and it is not tabular", env.Spec().ID)
}

// rollouts is the number of episodes over which the feature expectation of a policy is averaged in
// an environment that is neither tabular nor free of randomness.
const rollouts = 10

// Mu returns the feature expectation of p in env, Σ_t γᵗ E[φ_t], length d, so
// that its return under θ is θ·Mu. It is exact for a TabularPolicy in a tabular
// environment, one episode in a differentiable one (which has no randomness),
// and the mean of ten episodes elsewhere. Episodes that break down are left out;
// if all do, the result is NaN.
func Mu(env idrl.Environment, p idrl.Policy, rng *rand.Rand) []float64 {
	if t, ok := env.(idrl.Tabular); ok {
		if p, ok := p.(*TabularPolicy); ok {
			return TabularMu(t, p.Params())
		}
	}
	n := rollouts
	if _, ok := env.(idrl.Differentiable); ok {
		n = 1
	}
	var mus [][]float64
	for range n {
		mu := make([]float64, env.Spec().FeatureDim())
		if _, broken := addEpisode(mu, env, p, rng); !broken {
			mus = append(mus, mu)
		}
	}
	if len(mus) == 0 {
		return slices.Repeat([]float64{math.NaN()}, env.Spec().FeatureDim())
	}
	return mean(mus)
}

// addEpisode adds the discounted features of one episode of p to mu. It returns the number of its
// steps, and whether it broke down; then the features of its last step are not added, and mu is not
// valid.
func addEpisode(mu []float64, env idrl.Environment, p idrl.Policy, rng *rand.Rand) (steps int, broken bool) {
	gamma, discount := env.Spec().Discount, 1.0
	for _, step := range idrl.EpisodeOf(env, p, rng) {
		if step.Kind == idrl.First {
			continue
		}
		steps++
		if step.Broken {
			return steps, true
		}
		floats.AddScaled(mu, discount, step.Phi)
		discount *= gamma
	}
	return steps, false
}
