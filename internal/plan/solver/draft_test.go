package solver_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

func draft(t *testing.T, task idrl.SolveTask, seed uint64) []float64 {
	t.Helper()
	p := must.Get(solver.Draft{}.Solve(t.Context(), task, rng.New(seed, "draft", 0)))(t)
	return p.Params()
}

// TestDraftTakesTheBestWarmStart compares with the episodes remembered.
func TestDraftTakesTheBestWarmStart(t *testing.T) {
	still, left, right := make([]float64, 6), []float64{0, 0, 0.3, 0, 0, 0}, []float64{0, 0, -0.3, 0, 0, 0}
	for _, test := range []struct {
		name  string
		theta []float64
		warm  [][]float64
		want  []float64
	}{
		{"keep small", []float64{1, 0}, [][]float64{left, still, right}, still},
		{"go left", []float64{0, -1}, [][]float64{still, right, left}, left},
		{"go right", []float64{0, 1}, [][]float64{still, left, right}, right},
		{"no reward", []float64{0, 0}, [][]float64{right, left, still}, right},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := &drift{}
			got := draft(t, idrl.SolveTask{Env: env, Theta: test.theta, Warm: test.warm}, 1)
			if !slices.Equal(got, test.want) {
				t.Errorf("parameters = %v, want %v", got, test.want)
			}
			best := 0
			for i, ep := range env.episodes {
				if !slices.Equal(ep.obs[0], env.episodes[0].obs[0]) {
					t.Errorf("start %d is judged from %v, the first from %v", i, ep.obs[0], env.episodes[0].obs[0])
				}
				if floats.Dot(ep.mu(), test.theta) > floats.Dot(env.episodes[best].mu(), test.theta) {
					best = i
				}
			}
			if len(env.episodes) != len(test.warm) || !slices.Equal(got, test.warm[best]) {
				t.Errorf("in %d episodes the best is start %d; got %v", len(env.episodes), best, got)
			}
		})
	}
}

func TestDraftPutsWhatBreaksDownLast(t *testing.T) {
	wild, still := []float64{3, 0, 0, 0, 3, 0}, make([]float64, 6)
	task := idrl.SolveTask{Env: &drift{limit: 4}, Theta: []float64{1, 0}, Warm: [][]float64{wild, still}}
	if got := draft(t, task, 1); !slices.Equal(got, still) {
		t.Errorf("parameters = %v, want those of what does not break down", got)
	}
	task.Warm[1] = []float64{2, 0, 0, 0, 2, 0}
	if got := draft(t, task, 1); !slices.Equal(got, wild) {
		t.Errorf("parameters = %v, want the first of what breaks down", got)
	}
}

func TestDraftCostsNothingWithoutAChoice(t *testing.T) {
	for name, warm := range map[string][][]float64{"no start": nil, "one start": {{1, 2, 3, 4, 5, 6}}} {
		env := &drift{}
		got := draft(t, idrl.SolveTask{Env: env, Theta: []float64{1, 0}, Warm: warm}, 1)
		if len(env.episodes) > 0 {
			t.Errorf("%s: %d episodes", name, len(env.episodes))
		}
		if len(warm) == 1 && !slices.Equal(got, warm[0]) {
			t.Errorf("%s: parameters = %v, want %v", name, got, warm[0])
		}
	}
}

// wide is a task whose actions have bounds of different widths.
type wide struct{ boxed }

func (e *wide) Spec() idrl.EnvSpec {
	spec := e.boxed.Spec()
	spec.Actions = idrl.ActionSpec{Low: []float64{-30, -0.5, math.Inf(-1)}, High: []float64{30, 0.5, math.Inf(1)}}
	return spec
}

// TestDraftSpansTheBounds: W·obs for one observation of unit size has standard
// deviation of half the bounds' width; over n draws its estimate has relative
// standard error 1/√(2n).
func TestDraftSpansTheBounds(t *testing.T) {
	const n, obsDim = 4000, 20
	env := &wide{*newBoxed(obsDim, 3, 1, 10)}
	obs := make([]float64, obsDim)
	for i := range obs {
		obs[i] = float64(1 - 2*(i%2))
	}
	for i, half := range []float64{30, 0.5, 1} {
		actions := make([]float64, n)
		for k := range actions {
			w := draft(t, idrl.SolveTask{Env: env, Theta: []float64{1}}, uint64(k))
			actions[k] = floats.Dot(w[i*obsDim:(i+1)*obsDim], obs)
		}
		mean, std := stat.PopMeanStdDev(actions, nil)
		if math.Abs(mean) > 4*half/math.Sqrt(n) || math.Abs(std/half-1) > 4/math.Sqrt(2*n) { // four standard errors
			t.Errorf("action %d has mean %v and standard deviation %v, want 0 and %v", i, mean, std, half)
		}
	}
}

func TestDraftIsAFunctionOfItsStream(t *testing.T) {
	task := idrl.SolveTask{Env: &drift{}, Theta: []float64{1, 0}}
	if a, b := draft(t, task, 3), draft(t, task, 3); !slices.Equal(a, b) {
		t.Errorf("one seed gave %v and %v", a, b)
	}
	if a, b := draft(t, task, 3), draft(t, task, 4); slices.Equal(a, b) {
		t.Errorf("two seeds gave %v", a)
	}
}

func TestDraftRefusals(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	invalid := func(err error) bool { return err != nil && idrl.KindOf(err) == idrl.Invalid }
	stopped := func(err error) bool { return errors.Is(err, context.Canceled) }
	warm := func(w ...[]float64) idrl.SolveTask {
		return idrl.SolveTask{Env: &drift{}, Theta: []float64{1, 0}, Warm: w}
	}
	for _, test := range []struct {
		name string
		ctx  context.Context
		task idrl.SolveTask
		is   func(error) bool
	}{
		{"cancelled", cancelled, warm(), stopped},
		{"cancelled with a start", cancelled, warm(make([]float64, 6)), stopped},
		{"cancelled with a choice", cancelled, warm(make([]float64, 6), make([]float64, 6)), stopped},
		{"discrete actions", t.Context(), idrl.SolveTask{Env: chain([]float64{0, 1}), Theta: []float64{1}}, invalid},
		{"wrong weights", t.Context(), idrl.SolveTask{Env: &drift{}, Theta: []float64{1}}, invalid},
		{"short warm start", t.Context(), warm(make([]float64, 6), make([]float64, 5)), invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := (solver.Draft{}).Solve(test.ctx, test.task, rand.New(rand.NewPCG(1, 1))); !test.is(err) {
				t.Errorf("error = %v", err)
			}
		})
	}
}
