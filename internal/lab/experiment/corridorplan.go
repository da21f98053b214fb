package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
)

// An arsSolver is the solver of a corridor, augmented random search: from scratch, or
// from the best known policy.
type arsSolver struct {
	*corridorInstance
	iterations int           // from a known policy; from scratch it takes the spec's
	scratch    bool          // whatever is known
	rest       policy        // that it may start from, besides known, if anything is
	pool       *solver.Table // that it may start from, besides known; nil for none
	evaluates  bool          // its policies are evaluated in the episodes of the seed
	known      []policy      // of the run
}

var _ warmStarter = arsSolver{}

// from implements warmStarter.
func (s arsSolver) from(known []policy) policySolver {
	s.known = known
	return s
}

// A solveKey tells one solve of a seed from another.
type solveKey struct {
	stream       [2]uint64 // first numbers
	theta, start string    // as bits
}

type solved struct {
	policy
	took time.Duration
}

// optimal implements policySolver. Runs of a seed share what they both ask for: the
// policies before the answers differ.
func (s arsSolver) optimal(ctx context.Context, theta []float64, stream *rand.Rand) (policy, error) {
	start := s.start(theta)
	key := solveKey{[2]uint64{stream.Uint64(), stream.Uint64()}, bits(theta), bits(start.params)}
	if old, ok := s.solved[key]; ok {
		p := old.policy
		p.cost.saved = old.took
		return p, nil
	}
	began, before := time.Now(), s.steps()
	p, err := s.search(ctx, theta, start, rng.New(key.stream[0], "search", key.stream[1]))
	if err != nil {
		return policy{}, err
	}
	p.cost.steps = s.steps() - before
	s.solved[key] = solved{p, time.Since(began)}
	return p, nil
}

// start returns the best known policy under theta; of equal ones the first.
// Without parameters it stands for the search's own start.
func (s arsSolver) start(theta []float64) policy {
	if s.scratch {
		return policy{}
	}
	var best policy
	if len(s.known) > 0 {
		best = s.rest
	}
	if s.pool != nil {
		i, _ := s.pool.Best(theta)
		best = policy{params: s.pool.Params[i], mu: s.pool.Mu[i]}
	}
	for _, p := range s.known {
		if best.params == nil || floats.Dot(theta, p.mu) > floats.Dot(theta, best.mu) {
			best = p
		}
	}
	return best
}

// search runs the search. Where the simulation breaks down with whatever it tries,
// the start is the result.
func (s arsSolver) search(ctx context.Context, theta []float64, start policy, stream *rand.Rand) (policy, error) {
	search := withWorkers(solver.ARSFor(s.c.spec), s.envs)
	if start.params != nil {
		search.Iterations = s.iterations
	}
	task := idrl.SolveTask{Env: s.env, Theta: theta}
	if start.params != nil {
		task.Warm = [][]float64{start.params}
	}
	found := start
	switch p, mu, err := search.SolveMu(ctx, task, stream); {
	case err == nil:
		found = policy{params: p.Params(), mu: mu}
	case !errors.Is(err, solver.ErrBroken) || start.params == nil:
		return policy{}, fmt.Errorf("solve: %w", err)
	}
	if s.evaluates {
		return s.evaluated(found.params)
	}
	found.value = floats.Dot(s.theta, found.mu)
	return policy{params: found.params, mu: found.mu, value: found.value}, nil
}

// withWorkers returns the search with a worker for each environment, the first of
// which is that of its task.
func withWorkers[E idrl.Environment](a solver.ARS, envs []E) solver.ARS {
	a.Workers = len(envs)
	next := 0
	a.NewEnv = func() idrl.Environment { next++; return envs[next] }
	return a
}
