package solver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// ARS is augmented random search (Mania, Guy, Recht: Simple random search of
// static linear policies is competitive for reinforcement learning, NeurIPS
// 2018) over linear policies, for environments with continuous actions. The
// defaults are those of Swimmer-Corridor in docs/paper-code.md, section 1.6.
//
// It starts from the best of the warm starts, or from W = 0 if there is none.
// After every iteration the new policy is evaluated, and the best of all
// evaluated ones, the start included, is the result. All evaluations of a solve
// begin in the same states and draw the same noise, so that they are comparable.
// Restarts are ignored. For θ = 0 the first warm start is returned.
//
// After every iteration it calls the task's Save with its state. A solve that is
// resumed from it gives the same policy as one that was not interrupted.
//
// A simulation may break down (idrl.TimeStep.Broken). A direction in which it
// breaks down, forth or back, is left out of the iteration. A policy that breaks
// down in its evaluation is never the result.
type ARS struct {
	StepSize   float64 // default 0.04
	NoiseStd   float64 // of the perturbations of W; default 0.06
	Directions int     // in which W is perturbed, forth and back, in an iteration; default 16
	Top        int     // directions that enter the update; default all
	Iterations int     // default 30
	Episodes   int     // of an evaluation; default 10

	// MaxSteps bounds the environment steps of a solve, with those of evaluations;
	// 0 means no bound. A further warm start is evaluated, and an iteration begun,
	// only if whole episodes are within the bound. The first start is always
	// evaluated.
	MaxSteps int

	// Normalise makes it V2 of the paper: observations are normalised by their
	// mean and standard deviation over all perturbed episodes so far. An
	// observation that has not varied counts as one of standard deviation 1.
	Normalise bool

	Workers int                     // goroutines; default 1. The result does not depend on it
	NewEnv  func() idrl.Environment // returns an environment equal to the task's, for further workers; nil means one worker
}

var _ idrl.Solver = ARS{}

// ErrBroken is in the chain of the error of a solve that found no policy whose
// episodes do not break down.
var ErrBroken = errors.New("the simulation broke down with every policy that was tried")

// ARSFor returns the search with the settings of an environment, without
// Search.LiveSteps, the bound of a live session.
func ARSFor(spec idrl.EnvSpec) ARS {
	s := spec.Search
	return ARS{
		StepSize: s.StepSize, NoiseStd: s.NoiseStd, Directions: s.Directions, Top: s.Top,
		Iterations: s.Iterations, Episodes: s.Episodes, Normalise: s.Normalise,
	}
}

// Solve returns a *Linear policy. It returns an error of kind Invalid if the
// environment has discrete actions, if Theta or a warm start does not fit it,
// or if a setting is negative; and ErrBroken.
func (a ARS) Solve(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) (idrl.Policy, error) {
	p, _, err := a.SolveMu(ctx, task, rng)
	return p, err
}

// SolveMu is Solve that also returns the feature expectation of the policy,
// Σ_t γᵗ φ_t averaged over the episodes of its evaluation, length d.
func (a ARS) SolveMu(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) (idrl.Policy, []float64, error) {
	a = a.withDefaults()
	if err := a.check(task); err != nil {
		return nil, nil, err
	}
	if floats.Norm(task.Theta, 1) == 0 {
		a.Iterations = 0 // all policies are equally good
	}
	s := newSearch(a, task, rng)
	if err := s.run(ctx, task, rng); err != nil {
		return nil, nil, err
	}
	if s.best == nil {
		return nil, nil, fmt.Errorf("random search in %s: %w", s.spec.ID, ErrBroken)
	}
	p, err := NewLinear(s.spec, s.best)
	return p, s.bestMu, err
}

func (a ARS) withDefaults() ARS {
	a.StepSize = cmp.Or(a.StepSize, 0.04)
	a.NoiseStd = cmp.Or(a.NoiseStd, 0.06)
	a.Directions = cmp.Or(a.Directions, 16)
	a.Top = cmp.Or(a.Top, a.Directions)
	a.Iterations = cmp.Or(a.Iterations, 30)
	a.Episodes = cmp.Or(a.Episodes, 10)
	a.Workers = max(1, a.Workers)
	if a.NewEnv == nil {
		a.Workers = 1
	}
	return a
}

func (a ARS) check(task idrl.SolveTask) error {
	spec := task.Env.Spec()
	if err := checkBox(spec); err != nil {
		return err
	}
	if err := checkTheta(task); err != nil {
		return err
	}
	if !(a.StepSize > 0 && a.NoiseStd > 0) || min(a.Directions, a.Top, a.Iterations, a.Episodes, a.MaxSteps) < 0 || a.Top > a.Directions {
		return idrl.Errorf(idrl.Invalid, "the settings of random search must be positive, and the top directions (%d) no more than the directions (%d)", a.Top, a.Directions)
	}
	n := spec.Actions.Dim() * spec.ObsDim
	for _, w := range task.Warm {
		if _, err := NewLinear(spec, w); err != nil {
			return err
		}
		if !a.Normalise && len(w) > n {
			return idrl.Errorf(idrl.Invalid, "a warm start has %d numbers, but without normalised observations it has %d", len(w), n)
		}
	}
	return nil
}

// ARSUpdate moves the weights by one update of augmented random search:
//
//	W' = W + stepSize/(b·std) Σ (r⁺ − r⁻) δ
//
// over the b = top directions δ with the largest max(r⁺, r⁻), where r⁺ and r⁻
// are the returns with W moved forth and back. As in docs/paper-code.md,
// section 1.6, std is the population standard deviation of all returns; the
// paper of ARS uses the returns of the top directions. If r⁺ = r⁻ in all of
// them, the weights stay. Rows of deltas have the length of weights.
func ARSUpdate(weights []float64, deltas [][]float64, plus, minus []float64, stepSize float64, top int) {
	order := make([]int, len(deltas))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(max(plus[j], minus[j]), max(plus[i], minus[i]))
	})
	_, std := stat.PopMeanStdDev(slices.Concat(plus, minus), nil)
	for _, k := range order[:top] {
		if diff := plus[k] - minus[k]; diff != 0 {
			floats.AddScaled(weights, stepSize*diff/(std*float64(top)), deltas[k])
		}
	}
}
