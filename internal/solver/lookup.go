package solver

import (
	"context"
	"math/rand/v2"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// Lookup returns the best policy of a table, the first of equally good ones. It
// draws nothing, and ignores warm starts and restarts.
type Lookup struct {
	Table *Table // required; of policies of the environment to be solved
}

var _ idrl.Solver = Lookup{}

// Solve returns a policy of FromParams. It returns an error of kind Invalid if
// the table or Theta does not fit the environment.
func (l Lookup) Solve(ctx context.Context, task idrl.SolveTask, _ *rand.Rand) (idrl.Policy, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := l.Table.check(task); err != nil {
		return nil, err
	}
	i, _ := l.Table.Best(task.Theta)
	return FromParams(task.Env, l.Table.Params[i])
}

// WithTable improves on a solver that may end in a poor local optimum: where the
// best policy of the table has the larger return under Theta, it is the result.
// Source: docs/paper-code.md, section 1.5 (Driver), where the solver is one
// random restart of an optimiser.
type WithTable struct {
	Solver idrl.Solver // required
	Table  *Table      // required; of policies of the environment to be solved
}

var _ idrl.Solver = WithTable{}

// Solve returns the policy of w.Solver or one of FromParams. It fails as
// w.Solver does, and with an error of kind Invalid if the table or Theta does
// not fit the environment.
func (w WithTable) Solve(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) (idrl.Policy, error) {
	if err := w.Table.check(task); err != nil {
		return nil, err
	}
	p, err := w.Solver.Solve(ctx, task, rng)
	if err != nil {
		return nil, err
	}
	i, value := w.Table.Best(task.Theta)
	if value > floats.Dot(Mu(task.Env, p, rng), task.Theta) {
		return FromParams(task.Env, w.Table.Params[i])
	}
	return p, nil
}
