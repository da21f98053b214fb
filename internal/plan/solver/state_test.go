package solver_test

import (
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"github.com/google/go-cmp/cmp"
)

// stepping is a glider that counts its steps.
type stepping struct {
	glider
	steps int
}

func (e *stepping) Step(a idrl.Action) idrl.TimeStep {
	e.steps++
	return e.glider.Step(a)
}

// resumed solves from a state and returns the policy, the states after it, and the
// steps that it took.
func resumed(t *testing.T, a solver.ARS, theta []float64, state []byte) (params []float64, states []string, steps int) {
	t.Helper()
	env := &stepping{}
	task := idrl.SolveTask{
		Env: env, Theta: theta, Warm: [][]float64{{1, 0, 0, 0, -1, 0}, make([]float64, 6)},
		Resume: state, Save: func(b []byte) { states = append(states, string(b)) },
	}
	p := must.Get(a.Solve(t.Context(), task, rng.New(1, "solve", 0)))(t)
	return p.Params(), states, env.steps
}

// TestARSGoesOn: a search that was interrupted after any of its iterations ends with the
// same policy, and plays no episode of these iterations again.
func TestARSGoesOn(t *testing.T) {
	theta := []float64{1, 0.1}
	for name, a := range map[string]solver.ARS{
		"raw":        {Directions: 4, Iterations: 5, Episodes: 3},
		"normalised": {Directions: 4, Top: 2, Iterations: 5, Episodes: 3, Normalise: true},
		"bounded":    {Directions: 4, Iterations: 50, Episodes: 3, MaxSteps: 60 * gliderHorizon},
	} {
		want, states, all := resumed(t, a, theta, nil)
		if len(states) < 4 {
			t.Fatalf("%s: %d states", name, len(states))
		}
		for k, state := range states {
			got, after, steps := resumed(t, a, theta, []byte(state))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, after %d iterations: another policy:\n%s", name, k+1, diff)
			}
			if !slices.Equal(states[k+1:], after) {
				t.Errorf("%s, after %d iterations: other states follow", name, k+1)
			}
			left := (len(states) - (k + 1)) * (2*4 + 3) * gliderHorizon
			if steps != left || left >= all {
				t.Errorf("%s, after %d iterations: %d steps, want %d of %d", name, k+1, steps, left, all)
			}
		}
	}
}

// What is no state of the same search is left out.
func TestARSForeignStates(t *testing.T) {
	a, theta := solver.ARS{Directions: 4, Iterations: 3, Episodes: 3}, []float64{1, 0.1}
	want, states, all := resumed(t, a, theta, nil)
	_, others, _ := resumed(t, a, []float64{2, 0.1}, nil)
	longer := a
	longer.Episodes = 4
	_, settings, _ := resumed(t, longer, theta, nil)
	for name, state := range map[string]string{
		"of other weights": others[1], "of other settings": settings[1], "damaged": states[1][:20], "of another program": "what",
	} {
		if got, _, steps := resumed(t, a, theta, []byte(state)); cmp.Diff(want, got) != "" || steps != all {
			t.Errorf("a state %s: %d steps of %d, or another policy", name, steps, all)
		}
	}
}
