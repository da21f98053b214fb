package experiment

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"tiebreak/envs/chain"
	"tiebreak/envs/gridworld"
	"tiebreak/envs/junction"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment/authors"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/plan/solver"
)

// kernelVar is the variance of a reward in the paper's squared-exponential
// kernels.
const kernelVar = 4

// scaled returns the prior covariance of an environment that states a kernel.
func scaled(env belief.FeatureKernel, d int, variance float64) *mat.SymDense {
	k := mat.NewSymDense(d, nil)
	env.Kernel(k)
	k.ScaleSym(variance, k)
	return k
}

// task returns the true reward of a seed. Someone like a person answers by
// rewards that are not scaled to [0, 1].
func (e Experiment) task(env idrl.Environment, seed uint64) sim.Task {
	if e.Expert == People {
		return sim.NewRawTask(env, rng.New(seed, "task", 0))
	}
	return sim.NewTask(env, rng.New(seed, "task", 0))
}

// everyPolicy returns the table of all deterministic policies of an environment.
func everyPolicy(env idrl.Tabular) (*solver.Table, error) {
	all, err := solver.AllPolicies(env)
	if err != nil {
		return nil, err
	}
	return solver.NewTable(env, all, nil)
}

// chainPolicies returns the 1024 policies of Chain, which all instances share.
var chainPolicies = sync.OnceValues(func() (*solver.Table, error) { return everyPolicy(chain.New(chain.Config{})) })

// chainInstances makes Chain: every seed has rewards of its own, a draw from the
// prior scaled to [0, 1]. In paper mode seeds 1 to 30 have the authors'.
func chainInstances(_ context.Context, e Experiment, _ Options) (maker, error) {
	table, err := chainPolicies()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, seed uint64) (*instance, error) {
		env := chain.New(chain.Config{})
		t := tabular{env: env, table: table, theta: e.task(env, seed).Theta, cov: scaled(env, env.NumStates(), kernelVar)}
		if e.Expert == People {
			t.cov = scaled(env, env.NumStates(), 1)
		}
		if a, ok := authors.Chain(seed); ok && e.Mode == Paper {
			t.theta = a.Rewards
		}
		return t.instance(ctx, e, seed)
	}, nil
}

// junctionInstances makes Junction, whose rewards are fixed: those of the text, or
// in paper mode those of the authors' code with its kernel, whose distances are
// too large by 1.
func junctionInstances(_ context.Context, e Experiment, _ Options) (maker, error) {
	table, err := everyPolicy(junction.New(junction.Config{}))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, seed uint64) (*instance, error) {
		env := junction.New(junction.Config{})
		n := env.NumStates()
		t := tabular{env: env, table: table, cov: scaled(env, n, kernelVar), theta: e.task(env, seed).Theta}
		if e.Mode == Paper {
			t.theta = sim.NewCodeTask(env, nil).Theta
			for i := range n {
				for j := i; j < n; j++ {
					d := float64(junction.Distance(junction.Config{}, i, j)+1) / 3
					t.cov.SetSym(i, j, kernelVar*math.Exp(-0.5*d*d))
				}
			}
		}
		return t.instance(ctx, e, seed)
	}, nil
}

// gridworldInstances makes Gridworld. The text's kernel knows which objects are the
// same and nothing else; its solver knows every policy. In paper mode the kernel
// is the authors' and policies are shortest paths to objects; seeds 1 to 30 have
// the authors' layouts.
func gridworldInstances(_ context.Context, e Experiment, _ Options) (maker, error) {
	tosses := 1
	if e.Walls == Code {
		tosses = 2
	}
	return func(ctx context.Context, seed uint64) (*instance, error) {
		if a, ok := authors.Gridworld(seed); ok && e.Mode == Paper && e.Walls == Code {
			return authorsGridworld(ctx, e, seed, a)
		}
		env := gridworld.New(gridworld.Config{WallTosses: tosses}, rng.New(seed, "layout", 0))
		t := tabular{env: env, theta: e.task(env, seed).Theta}
		if e.Mode == Paper {
			paths, err := solver.ShortestPaths(env, env.ObjectCells())
			if err != nil {
				return nil, err
			}
			if t.table, err = solver.NewTable(env, paths, nil); err != nil {
				return nil, err
			}
			t.cov = scaled(env, len(t.theta), kernelVar)
		} else {
			t.cov = identity(len(t.theta))
		}
		return t.instance(ctx, e, seed)
	}, nil
}

func authorsGridworld(ctx context.Context, e Experiment, seed uint64, a authors.GridworldInstance) (*instance, error) {
	env, err := gridworld.FromLayout(gridworld.Layout{Tiles: a.Tiles, Walls: a.Walls, Start: a.Start})
	if err != nil {
		return nil, err
	}
	t := tabular{env: env, theta: make([]float64, env.Spec().FeatureDim())}
	for s, tile := range a.Tiles {
		t.theta[tile] = a.Rewards[s]
	}
	t.cov = scaled(env, len(t.theta), kernelVar)
	if t.table, err = solver.NewTable(env, a.CandidateActions, nil); err != nil {
		return nil, err
	}
	return t.instance(ctx, e, seed)
}

func identity(n int) *mat.SymDense {
	m := mat.NewSymDense(n, nil)
	for i := range n {
		m.SetSym(i, i, 1)
	}
	return m
}
