package solver_test

import (
	"context"
	"fmt"

	envchain "tiebreak/envs/chain"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
)

// In a chain of five states both actions lead right in the first two; in the others
// action 0 leads left and action 1 right. The reward is in the third state.
func Example() {
	env := envchain.New(envchain.Config{States: 5, Blocked: 2})
	theta := make([]float64, env.Spec().FeatureDim())
	theta[2] = 1
	s, err := solver.For(env)
	if err != nil {
		fmt.Println(err)
		return
	}
	policy, err := s.Solve(context.Background(), idrl.SolveTask{Env: env, Theta: theta}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("action in each state:", policy.Params())
	fmt.Printf("discounted visits of each state: %.1f\n", solver.Mu(env, policy, nil))
	// Output:
	// action in each state: [0 0 0 0 0]
	// discounted visits of each state: [0.0 49.9 49.9 0.2 0.0]
}
