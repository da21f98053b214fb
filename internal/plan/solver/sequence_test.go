package solver_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/driver"
	"tiebreak/envs/gridworld"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
)

// TestActionSequenceQuadratic: with θ = (a, b, c, d) the return of slope is
// concave and its axes are independent; a grid search refined around its best
// point is the second derivation.
func TestActionSequenceQuadratic(t *testing.T) {
	for _, test := range []struct {
		name  string
		theta []float64
	}{
		{"on the bounds", []float64{1, -1, 0, 0}},
		{"inside", []float64{0.4, -0.2, 1, 1}},
		{"mixed", []float64{3, 0.1, 0.5, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := &slope{}
			p := solve(t, idrl.SolveTask{Env: env, Theta: test.theta, Restarts: 1})
			got, want := env.Return(nil, p.Params(), test.theta), gridSearch(env, test.theta)
			if got < want-1e-5 {
				t.Errorf("return = %v at %v, a grid search finds %v", got, p.Params(), want)
			}
			if mu := floats.Dot(test.theta, solver.Mu(env, p, nil)); !scalar.EqualWithinAbsOrRel(mu, got, 1e-12, 1e-12) {
				t.Errorf("θ·Mu = %v, want the return %v", mu, got)
			}
		})
	}
}

// gridSearch improves one held action at a time by a shrinking grid, which
// finds the optimum of a concave function whose axes are searched in turn.
func gridSearch(env *slope, theta []float64) float64 {
	spec := env.Spec()
	x := make([]float64, 6)
	best := env.Return(nil, x, theta)
	for width := 1.0; width > 1e-7; width *= 0.7 {
		for range 4 {
			for i := range x {
				old := x[i]
				for step := -1.0; step <= 1; step += 0.25 {
					c := max(spec.Actions.Low[i%2], min(spec.Actions.High[i%2], old+step*width))
					last := x[i]
					x[i] = c
					if v := env.Return(nil, x, theta); v > best {
						best = v
					} else {
						x[i] = last
					}
				}
			}
		}
	}
	return best
}

// TestDriverNearBest compares one warm start and two restarts with the best of
// many restarts, and demands that the result is a local optimum.
func TestDriverNearBest(t *testing.T) {
	env := driver.New()
	gap := 0.0
	const tasks = 8
	for seed := range uint64(tasks) {
		stream := rng.New(seed, "theta", 0)
		theta := make([]float64, 5)
		for i := range theta {
			theta[i] = stream.NormFloat64()
		}
		many := solve(t, idrl.SolveTask{Env: env, Theta: theta, Restarts: 40})
		few := solve(t, idrl.SolveTask{Env: env, Theta: theta, Restarts: 5})
		best := env.Return(nil, many.Params(), theta)
		gap += (best - env.Return(nil, few.Params(), theta)) / tasks
		again := solve(t, idrl.SolveTask{Env: env, Theta: theta, Warm: [][]float64{many.Params()}})
		if v := env.Return(nil, again.Params(), theta); v < best || v > best+1e-3 {
			t.Errorf("seed %d: a warm start went from %v to %v", seed, best, v)
		}
	}
	if !(gap >= -1e-6 && gap < 0.6) { // about 0.8 after one start
		t.Errorf("mean gap of five starts to forty = %v", gap)
	}
}

func TestActionSequenceWarmStarts(t *testing.T) {
	env := &slope{}
	good, bad := []float64{1, -0.5, 1, -0.5, 1, -0.5}, make([]float64, 6)
	task := idrl.SolveTask{Env: env, Theta: []float64{1, -1, 0, 0}, Warm: [][]float64{bad, good}}
	kept := slices.Clone(bad)
	if got := solve(t, task).Params(); !slices.Equal(got, good) {
		t.Errorf("solution = %v, want the warm start that is optimal", got)
	}
	if !slices.Equal(bad, kept) {
		t.Error("a warm start was changed")
	}
	task.Theta = make([]float64, 4)
	if got := solve(t, task).Params(); !slices.Equal(got, bad) {
		t.Errorf("solution for no reward = %v, want the first warm start", got)
	}
}

func TestActionSequenceIsAFunctionOfItsStream(t *testing.T) {
	task := idrl.SolveTask{Env: driver.New(), Theta: []float64{1, -1, 0.5, -2, 0}, Restarts: 2}
	if a, b := solve(t, task).Params(), solve(t, task).Params(); !slices.Equal(a, b) {
		t.Errorf("two runs gave %v and %v", a, b)
	}
}

func TestActionSequenceRefusals(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context
		task idrl.SolveTask
		want error
	}{
		{"cancelled", cancelled, idrl.SolveTask{Env: &slope{}, Theta: make([]float64, 4)}, context.Canceled},
		{"wrong length", t.Context(), idrl.SolveTask{Env: &slope{}, Theta: make([]float64, 3)}, nil},
		{"warm start of another environment", t.Context(), idrl.SolveTask{Env: &slope{}, Theta: make([]float64, 4), Warm: [][]float64{{0}}}, nil},
		{"tabular", t.Context(), idrl.SolveTask{Env: chain([]float64{0, 1}), Theta: []float64{1}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := solver.ActionSequence{}.Solve(test.ctx, test.task, rng.New(1, "", 0))
			if test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("error = %v, want %v", err, test.want)
			}
			if test.want == nil && (err == nil || idrl.KindOf(err) != idrl.Invalid) {
				t.Errorf("error = %v, want one of kind Invalid", err)
			}
		})
	}
}

func TestOpenLoopReadsTheTime(t *testing.T) {
	p := must.Get(solver.FromParams(&slope{}, []float64{0.1, 0.01, 0.2, 0.02, 0.3, 0.03}))(t)
	for step, want := range []float64{0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.3, 0.3} {
		obs := []float64{0, 0, float64(step) / slopeHorizon}
		if got := p.Act(make(idrl.Action, 2), obs, nil); !slices.Equal(got, idrl.Action{want, want / 10}) {
			t.Errorf("action in step %d = %v, want %v", step, got, want)
		}
	}
}

func TestFromParamsRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		env    idrl.Environment
		params []float64
	}{
		{"too few states", chain([]float64{0, 1, 2}), []float64{0}},
		{"unknown action", chain([]float64{0, 1}), []float64{0, 2}},
		{"half an action", chain([]float64{0, 1}), []float64{0, 0.5}},
		{"too few actions", &slope{}, []float64{0, 0}},
		{"off bounds", &slope{}, []float64{0, 0, 0, 0, 0, 0.3}},
		{"NaN", &slope{}, []float64{0, 0, 0, 0, math.NaN(), 0}},
		{"too few weights", struct{ idrl.Environment }{&slope{}}, nil},
		{"weights for discrete actions", struct{ idrl.Environment }{chain([]float64{0, 1})}, []float64{0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := solver.FromParams(test.env, test.params); err == nil || idrl.KindOf(err) != idrl.Invalid {
				t.Errorf("error = %v, want one of kind Invalid", err)
			}
		})
	}
	if _, err := solver.For(struct{ idrl.Environment }{chain([]float64{0, 1})}); err == nil || idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("For: error = %v, want one of kind Invalid", err)
	}
}

func BenchmarkDriver(b *testing.B) {
	env := driver.New()
	stream := rng.New(1, "bench", 0)
	theta := make([]float64, 5)
	for b.Loop() {
		for i := range theta {
			theta[i] = stream.NormFloat64()
		}
		must.Get((solver.ActionSequence{}).Solve(b.Context(), idrl.SolveTask{Env: env, Theta: theta, Restarts: 1}, stream))(b)
	}
}

func BenchmarkGridworld(b *testing.B) {
	stream := rng.New(1, "bench", 0)
	env := gridworld.New(gridworld.Config{}, stream)
	theta := make([]float64, 11)
	for b.Loop() {
		for i := range theta {
			theta[i] = stream.NormFloat64()
		}
		p := must.Get(solver.Tabular{}.Solve(b.Context(), idrl.SolveTask{Env: env, Theta: theta}, stream))(b)
		solver.Mu(env, p, stream)
	}
}
