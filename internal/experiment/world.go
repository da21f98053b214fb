package experiment

import (
	"context"
	"fmt"
	"math"

	"tiebreak/internal/belief"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/internal/sim"
	"tiebreak/internal/solver"
	"tiebreak/internal/trainer"

	"gonum.org/v1/gonum/floats"
)

// A world is what the methods of one seed share: the environment, the true
// reward, the expert, and the pool of policies. It is used by one goroutine.
type world struct {
	Setting
	seed    uint64
	env     idrl.Environment
	task    sim.Task
	expert  sim.Expert
	model   belief.Model
	trainer *trainer.Thompson
	best    float64 // highest return under the true reward of any policy met so far
}

// strongRestarts is the number of random starts behind the best return.
const strongRestarts = 60

func newWorld(ctx context.Context, s Setting, seed uint64) (*world, error) {
	w := &world{Setting: s, seed: seed, best: math.Inf(-1)}
	newEnv := func() idrl.Environment { return s.newEnv(rng.New(seed, "layout", 0)) }
	w.env = newEnv()
	w.task = sim.NewTask(w.env.Spec().ID, w.env.Spec(), rng.New(seed, "task", 0))
	sv, err := solver.For(w.env)
	if err != nil {
		return nil, err
	}
	w.trainer = &trainer.Thompson{NewEnv: newEnv, Solver: sv, Kind: s.spec.Kind, Restarts: s.restarts, Pool: s.pool, Mu: solver.Mu}
	if w.model, err = belief.ForSpec(s.spec.WithDefaults(), w.env); err != nil {
		return nil, err
	}
	pool, err := w.trainer.PoolPolicies(ctx, seed)
	if err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	var returns []float64
	for _, c := range pool {
		returns = append(returns, w.meet(c.Mu))
	}
	if w.expert, err = sim.NewExpert(s.expert, w.task, s.options(returns)); err != nil {
		return nil, err
	}
	strong, err := sv.Solve(ctx, idrl.SolveTask{Env: w.env, Theta: w.task.Theta, Restarts: strongRestarts}, rng.New(seed, "strong", 0))
	if err != nil {
		return nil, fmt.Errorf("solve for the true reward: %w", err)
	}
	w.meet(solver.Mu(w.env, strong, rng.New(seed, "mu", 0)))
	return w, nil
}

// meet returns the true return of a policy with feature expectation mu, and
// remembers it if it is the best so far.
func (w *world) meet(mu []float64) float64 {
	g := floats.Dot(w.task.Theta, mu)
	w.best = max(w.best, g)
	return g
}

// A tape gives the expert's answers. The answer to a question asked for the
// n-th time is the same for every method of a seed, whatever was asked before.
type tape struct {
	*world
	asked map[idrl.QueryID]uint64 // how often so far
}

func (t *tape) answer(q idrl.Query) idrl.Answer {
	stream := rng.New(t.seed, "answer "+string(q.ID), t.asked[q.ID])
	t.asked[q.ID]++
	if !q.Kind.Comparison() || q.Clips[0] < q.Clips[1] {
		return t.expert.Answer(q, stream)
	}
	mirrored := q // (a, b) and (b, a) are one question with one answer
	mirrored.X = make([]float64, len(q.X))
	floats.AddScaled(mirrored.X, -1, q.X)
	a := t.expert.Answer(mirrored, stream)
	switch a.Choice {
	case idrl.ChoseA:
		a.Choice = idrl.ChoseB
	case idrl.ChoseB:
		a.Choice = idrl.ChoseA
	default: // says the same of both
	}
	return a
}
