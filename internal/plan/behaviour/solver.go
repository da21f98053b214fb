package behaviour

import (
	"context"
	"math/rand/v2"

	"tiebreak/internal/idrl"
)

// A Solver turns a solver whose policies are all of one class into a solver of behaviours: warm
// starts of other classes are left out, and the result is a *Policy.
type Solver struct {
	Class  Class
	Solver idrl.Solver // whose policies are of Class
}

var _ idrl.Solver = Solver{}

// Solve implements idrl.Solver.
func (s Solver) Solve(ctx context.Context, task idrl.SolveTask, rng *rand.Rand) (idrl.Policy, error) {
	var warm [][]float64
	for _, params := range task.Warm {
		if own, ok := s.Class.Own(params); ok {
			warm = append(warm, own)
		}
	}
	task.Warm = warm
	p, err := s.Solver.Solve(ctx, task, rng)
	if err != nil {
		return nil, err
	}
	return Remake(task.Env, s.Class.Params(p.Params()))
}
