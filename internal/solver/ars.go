package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// ARS is augmented random search (Mania, Guy, Recht: Simple random search of
// static linear policies is competitive for reinforcement learning, NeurIPS
// 2018) over linear policies, for environments with continuous actions. The
// defaults are those of Swimmer-Corridor in reference "authors-code", section 1.
//
// It starts from the best of the warm starts, or from W = 0 if there is none.
// After every iteration the new policy is evaluated, and the best of all
// evaluated ones, the start included, is the result. Restarts are ignored. For
// θ = 0 the first warm start comes back.
type ARS struct {
	StepSize   float64 // default 0.04
	NoiseStd   float64 // of the perturbations of W; default 0.06
	Directions int     // in which W is perturbed, forth and back, in an iteration; default 16
	Top        int     // directions that enter the update; default all
	Iterations int     // default 30
	Episodes   int     // of an evaluation; default 10

	// Normalise makes it V2 of the paper: observations are normalised by their
	// mean and standard deviation over all perturbed episodes so far. An
	// observation that has not varied counts as one of standard deviation 1.
	Normalise bool

	Workers int                     // goroutines; default 1. The result does not depend on it
	NewEnv  func() idrl.Environment // returns an environment equal to the task's, for further workers; nil means one worker
}

var _ idrl.Solver = ARS{}

// Solve returns a *Linear policy. It returns an error of kind Invalid if the
// environment has discrete actions, if Theta or a warm start does not fit it,
// or if a setting is negative.
func (a ARS) Solve(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) (idrl.Policy, error) {
	a = a.withDefaults()
	if err := a.check(task); err != nil {
		return nil, err
	}
	s := newSearch(a, task)
	if err := s.begin(ctx, task.Warm, rng); err != nil {
		return nil, err
	}
	for range a.Iterations {
		if err := s.improve(ctx, rng); err != nil {
			return nil, err
		}
		if err := s.judge(ctx, s.params(s.weights), rng); err != nil {
			return nil, err
		}
	}
	return NewLinear(s.spec, s.best)
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
	if err := checkBox(task.Env.Spec()); err != nil {
		return err
	}
	if err := checkTheta(task); err != nil {
		return err
	}
	if !(a.StepSize > 0 && a.NoiseStd > 0) || min(a.Directions, a.Top, a.Iterations, a.Episodes) < 0 || a.Top > a.Directions {
		return idrl.Errorf(idrl.Invalid, "the settings of random search must be positive, and the top directions (%d) no more than the directions (%d)", a.Top, a.Directions)
	}
	return nil
}

// A search is one run of ARS.
type search struct {
	ARS
	spec  idrl.EnvSpec
	theta []float64
	envs  []idrl.Environment // one a worker

	weights   []float64 // W by rows
	seen      moments   // of the observations, for Normalise
	best      []float64 // parameters of the best policy so far
	bestValue float64   // its mean return
}

func newSearch(a ARS, task idrl.SolveTask) *search {
	s := &search{
		ARS: a, spec: task.Env.Spec(), theta: task.Theta,
		envs: []idrl.Environment{task.Env}, bestValue: math.Inf(-1),
	}
	for len(s.envs) < a.Workers {
		s.envs = append(s.envs, a.NewEnv())
	}
	s.weights = make([]float64, s.spec.Actions.Dim()*s.spec.ObsDim)
	s.seen = newMoments(s.spec.ObsDim)
	return s
}

// begin evaluates the starts and goes on from the best.
func (s *search) begin(ctx context.Context, warm [][]float64, rng *rand.Rand) error {
	if len(warm) == 0 {
		warm = [][]float64{slices.Clone(s.weights)}
	}
	n := len(s.weights)
	for _, w := range warm {
		if !s.Normalise && len(w) > n {
			return idrl.Errorf(idrl.Invalid, "a warm start has %d numbers, but without normalised observations it has %d", len(w), n)
		}
		if err := s.judge(ctx, w, rng); err != nil {
			return err
		}
	}
	copy(s.weights, s.best)
	if scales := s.best[n:]; s.Normalise && len(scales) > 0 {
		// The scales count as much as those of one iteration to come.
		s.seen.assume(scales[:s.spec.ObsDim], scales[s.spec.ObsDim:], float64(2*s.Directions*s.spec.Horizon))
	}
	return nil
}

// params returns the parameters of the policy with these weights.
func (s *search) params(weights []float64) []float64 {
	if !s.Normalise {
		return slices.Clone(weights)
	}
	return slices.Concat(weights, s.seen.mean, s.seen.std())
}

// improve moves the weights by one iteration of the search.
func (s *search) improve(ctx context.Context, rng *rand.Rand) error {
	n := s.Directions
	deltas := matrix(n, len(s.weights))
	plus, minus := make([]float64, n), make([]float64, n)
	seen := make([]moments, n)
	streams := fork(rng, n)
	err := parallel(ctx, len(s.envs), n, func(worker, k int) (err error) {
		for i := range deltas[k] {
			deltas[k][i] = streams[k].NormFloat64()
		}
		seen[k] = newMoments(s.spec.ObsDim)
		if plus[k], err = s.try(worker, deltas[k], s.NoiseStd, &seen[k], streams[k]); err != nil {
			return err
		}
		minus[k], err = s.try(worker, deltas[k], -s.NoiseStd, &seen[k], streams[k])
		return err
	})
	if err != nil {
		return err
	}
	ARSUpdate(s.weights, deltas, plus, minus, s.StepSize, s.Top)
	for _, m := range seen {
		s.seen.merge(m)
	}
	return nil
}

// try returns the return of one episode with the weights moved by step·delta,
// and adds the observations to seen.
func (s *search) try(worker int, delta []float64, step float64, seen *moments, rng *rand.Rand) (float64, error) {
	moved := slices.Clone(s.weights)
	floats.AddScaled(moved, step, delta)
	p, err := NewLinear(s.spec, s.params(moved))
	if err != nil {
		return 0, err
	}
	if !s.Normalise {
		return s.episode(worker, p, rng)
	}
	return s.episode(worker, watched{p, seen}, rng)
}

// judge evaluates a policy and keeps it if it is the best so far.
func (s *search) judge(ctx context.Context, params []float64, rng *rand.Rand) error {
	p, err := NewLinear(s.spec, params)
	if err != nil {
		return err
	}
	returns := make([]float64, s.Episodes)
	streams := fork(rng, s.Episodes)
	err = parallel(ctx, len(s.envs), s.Episodes, func(worker, i int) (err error) {
		returns[i], err = s.episode(worker, p, streams[i])
		return err
	})
	if err != nil {
		return err
	}
	if v := stat.Mean(returns, nil); v > s.bestValue {
		s.best, s.bestValue = params, v
	}
	return nil
}

// episode returns the return of one episode of p.
func (s *search) episode(worker int, p idrl.Policy, rng *rand.Rand) (float64, error) {
	mu := make([]float64, len(s.theta))
	addEpisode(mu, s.envs[worker], p, rng)
	v := floats.Dot(mu, s.theta)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("random search: an episode of %s has return %v", s.spec.ID, v)
	}
	return v, nil
}

// ARSUpdate moves the weights by one update of augmented random search:
//
//	W' = W + stepSize/(b·std) Σ (r⁺ − r⁻) δ
//
// over the b = top directions δ with the largest max(r⁺, r⁻), where r⁺ and r⁻
// are the returns with W moved forth and back. As in reference "authors-code",
// section 1, std is the population standard deviation of all returns; the paper
// of ARS takes those of the top directions. If no direction makes a difference,
// the weights stay. Rows of deltas have the length of weights.
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
