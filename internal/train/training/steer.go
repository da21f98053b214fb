package training

import (
	"context"
	"math/rand/v2"

	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/trainer"
)

// MakeClips has t ask about clips that are made to tell most, where a policy for given weights costs next to nothing: in
// tabular environments, and in those that are differentiable and whose clips are whole episodes. by is the solver of the
// latter.
func MakeClips(t *trainer.Thompson, env idrl.Environment, by idrl.Solver) {
	switch env := env.(type) {
	case idrl.Tabular:
		walks := solver.Prepare(env)
		t.Steer = func(_ context.Context, task idrl.SolveTask, from, n int, _ *rand.Rand) (idrl.Policy, error) {
			return walks.Walk(task.Theta, from, n), nil
		}
	case idrl.Differentiable:
		if spec := env.Spec(); spec.ClipSteps < spec.Horizon {
			return
		}
		t.Steer = func(ctx context.Context, task idrl.SolveTask, _, _ int, stream *rand.Rand) (idrl.Policy, error) {
			return by.Solve(ctx, task, stream)
		}
	}
}
