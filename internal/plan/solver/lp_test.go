package solver_test

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// lpValue returns the optimal return of env under θ by the dual linear program
// over discounted visits x(s, a) of a state left by an action:
//
//	maximise Σ x(s,a) Σ_s' P(s'|s,a) θ·φ(s')
//	subject to Σ_a x(s',a) − γ Σ P(s'|s,a) x(s,a) = start(s'), x ≥ 0
//
// The first basis is that of the policy that always takes action 0. Every
// state must have a positive start probability: otherwise the program is
// degenerate and the simplex method may not end.
func lpValue(t *testing.T, env *finite, theta []float64) float64 {
	t.Helper()
	n, actions := len(env.p), len(env.p[0])
	if !(floats.Min(env.start) > 0) {
		t.Fatal("the linear program is not well posed")
	}
	reward := make([]float64, n)
	mat.NewVecDense(n, reward).MulVec(env.phi, mat.NewVecDense(len(theta), theta))
	cost := make([]float64, n*actions)
	flow := mat.NewDense(n, n*actions, nil)
	basis := make([]int, n)
	for s := range n {
		basis[s] = s * actions
		for a, row := range env.p[s] {
			k := s*actions + a
			cost[k] = -floats.Dot(row, reward)
			for next, p := range row {
				flow.Set(next, k, -env.discount*p)
			}
			flow.Set(s, k, flow.At(s, k)+1)
		}
	}
	value, _, err := lp.Simplex(cost, flow, env.start, 1e-12, basis)
	if err != nil {
		t.Fatalf("linear program: %v", err)
	}
	return -value
}

// TestLinearProgramAgrees compares planning, and for few policies enumeration,
// with the linear program of the paper.
func TestLinearProgramAgrees(t *testing.T) {
	var c chainVector
	load(t, "chain_mdp", &c)
	var j junctionVector
	load(t, "junction_mdp", &j)
	type problem struct {
		name      string
		env       *finite
		theta     []float64
		enumerate bool
		want      float64 // NaN if not known
	}
	problems := []problem{
		{"chain", chain(c.Inputs.Rewards), []float64{1}, true, c.Outputs.LPReturn},
		{"junction", junction(j.Outputs.Rewards, j.Inputs.N), []float64{1}, true, j.Outputs.Returns[0]},
	}
	for seed := range uint64(5) {
		stream := rng.New(seed, "lp", 0)
		theta := []float64{stream.NormFloat64(), stream.NormFloat64()}
		problems = append(problems,
			problem{fmt.Sprint("garnet ", seed), uniformStart(randomMDP(6, 2, 0.95, stream)), theta, true, math.NaN()},
			problem{fmt.Sprint("gridworld ", seed), maze(4, 2, stream), theta, false, math.NaN()},
		)
	}
	const tol = 1e-7 // relative to returns of 0.1 to 100
	for _, p := range problems {
		t.Run(p.name, func(t *testing.T) {
			want := lpValue(t, p.env, p.theta)
			if !math.IsNaN(p.want) && !scalar.EqualWithinRel(want, p.want, tol) {
				t.Errorf("linear program %v, the authors' code %v", want, p.want)
			}
			plan := solve(t, idrl.SolveTask{Env: p.env, Theta: p.theta})
			if got := floats.Dot(p.theta, solver.Mu(p.env, plan, nil)); !scalar.EqualWithinAbsOrRel(got, want, tol, tol) {
				t.Errorf("planned return %v, linear program %v", got, want)
			}
			if !p.enumerate {
				return
			}
			if _, got := allPolicies(t, p.env).Best(p.theta); !scalar.EqualWithinAbsOrRel(got, want, tol, tol) {
				t.Errorf("best of all policies %v, linear program %v", got, want)
			}
		})
	}
}

func uniformStart(e *finite) *finite {
	for s := range e.start {
		e.start[s] = 1 / float64(len(e.start))
	}
	return e
}
