package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
)

func solve(t *testing.T, task idrl.SolveTask) idrl.Policy {
	t.Helper()
	s := must.Get(solver.For(task.Env))(t)
	p := must.Get(s.Solve(t.Context(), task, rng.New(1, "solve", 0)))(t)
	return p
}

// The numbers are vector "chain_mdp" of the authors' code.
func TestChain(t *testing.T) {
	env := chain([]float64{0.12, 0.4, 0.33, 0.9, 0.0, 0.55, 0.62, 0.31, 0.2, 0.77, 0.45, 0.05, 0.38, 1.0, 0.83, 0.27, 0.71, 0.09, 0.5, 0.66})
	for _, test := range []struct {
		name    string
		actions string
		ret     float64
	}{
		{"all right", "11111111111111111111", 64.4974567140107},
		{"all left", "00000000000000000000", 60.37668059870685},
		{"mixed", "00000000001110001000", 62.180221843339964},
		{"best of 1024", "00000000001111000000", 89.2898292310861},
	} {
		t.Run(test.name, func(t *testing.T) {
			actions := make([]float64, len(test.actions))
			for s, c := range test.actions {
				actions[s] = float64(c - '0')
			}
			if got := solver.TabularMu(env, actions)[0]; !scalar.EqualWithinRel(got, test.ret, 1e-9) {
				t.Errorf("return = %v, want %v", got, test.ret)
			}
		})
	}
	p := solve(t, idrl.SolveTask{Env: env, Theta: []float64{1}})
	if got := solver.Mu(env, p, nil)[0]; !scalar.EqualWithinRel(got, 89.2898292310861, 1e-9) {
		t.Errorf("return of the solution = %v, want that of the best of all policies, 89.2898292310861", got)
	}
}

// TestTabularBellman checks the solution against value iteration run to
// convergence, a second derivation of the optimal value.
func TestTabularBellman(t *testing.T) {
	for seed := range uint64(30) {
		for _, discount := range []float64{0, 0.5, 0.9, 0.99} {
			t.Run(fmt.Sprintf("seed %d discount %v", seed, discount), func(t *testing.T) {
				stream := rng.New(seed, "mdp", 0)
				env := randomMDP(12, 4, discount, stream)
				theta := []float64{stream.NormFloat64(), stream.NormFloat64(), stream.NormFloat64(), 1}
				p := solve(t, idrl.SolveTask{Env: env, Theta: theta})
				got := floats.Dot(theta, solver.TabularMu(env, p.Params()))
				want := floats.Dot(env.start, valueIteration(env, theta))
				if !scalar.EqualWithinAbsOrRel(got, want, 1e-9, 1e-9) {
					t.Errorf("return = %v, want %v", got, want)
				}
			})
		}
	}
}

func valueIteration(env *finite, theta []float64) []float64 {
	n := env.NumStates()
	reward, v, next := make([]float64, n), make([]float64, n), make([]float64, n)
	mat.NewVecDense(n, reward).MulVec(env.phi, mat.NewVecDense(len(theta), theta))
	for change := 1.0; change > 1e-12; {
		for s := range n {
			next[s] = math.Inf(-1)
			for _, row := range env.p[s] {
				q := 0.0
				for to, p := range row {
					q += p * (reward[to] + env.discount*v[to])
				}
				next[s] = max(next[s], q)
			}
		}
		change = floats.Distance(v, next, math.Inf(1))
		copy(v, next)
	}
	return v
}

func TestTabularMuAgreesWithEpisodes(t *testing.T) {
	env := randomMDP(6, 3, 0.9, rng.New(5, "mdp", 0))
	actions := []float64{0, 1, 2, 0, 1, 2}
	exact := solver.TabularMu(env, actions)
	p := must.Get(solver.FromParams(env, actions))(t)
	const episodes = 4000
	mean := make([]float64, 3)
	stream := rng.New(6, "episodes", 0)
	for range episodes {
		action, discount := make(idrl.Action, 1), 1.0
		step := env.Reset(stream)
		for range 150 { // 0.9¹⁵⁰ < 2e-7
			step = env.Step(p.Act(action, step.Obs, stream))
			floats.AddScaled(mean, discount/episodes, step.Phi)
			discount *= env.discount
		}
	}
	if !floats.EqualApprox(mean, exact, 0.15) { // about four standard errors
		t.Errorf("mean of episodes = %v, exact %v", mean, exact)
	}
}

func TestTabularTiesTakeTheFirstAction(t *testing.T) {
	env := randomMDP(8, 2, 0.95, rng.New(2, "mdp", 0))
	if got := solve(t, idrl.SolveTask{Env: env, Theta: []float64{0, 0}}).Params(); !slices.Equal(got, make([]float64, 8)) {
		t.Errorf("with no reward: actions = %v, want all 0", got)
	}
	for s := range env.p {
		env.p[s][1] = env.p[s][0] // equally good
	}
	if got := solve(t, idrl.SolveTask{Env: env, Theta: []float64{1, -1}}).Params(); slices.Contains(got, 1) {
		t.Errorf("actions = %v, want 0 where 0 and 1 do the same", got)
	}
}

func TestTabularRefusals(t *testing.T) {
	mdp := randomMDP(5, 2, 0.9, rng.New(3, "mdp", 0))
	undiscounted := randomMDP(5, 2, 1, rng.New(3, "mdp", 0))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name  string
		ctx   context.Context
		env   idrl.Environment
		theta []float64
		want  error
	}{
		{"cancelled", cancelled, mdp, []float64{1, 2}, context.Canceled},
		{"wrong length", t.Context(), mdp, []float64{1}, nil},
		{"no discount", t.Context(), undiscounted, []float64{1, 2}, nil},
		{"not tabular", t.Context(), &slope{}, make([]float64, 4), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := solver.Tabular{}.Solve(test.ctx, idrl.SolveTask{Env: test.env, Theta: test.theta}, rng.New(1, "", 0))
			if test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("error = %v, want %v", err, test.want)
			}
			if test.want == nil && (err == nil || idrl.KindOf(err) != idrl.Invalid) {
				t.Errorf("error = %v, want one of kind Invalid", err)
			}
		})
	}
}
