package solver_test

import (
	"slices"
	"sync"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/driver"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
)

func TestNewTableIsExact(t *testing.T) {
	env := randomMDP(9, 4, 0.9, rng.New(1, "mdp", 0))
	params := [][]float64{make([]float64, 9), {0, 1, 2, 0, 1, 2, 0, 1, 2}, {2, 2, 2, 2, 2, 2, 2, 2, 1}}
	table := must.Get(solver.NewTable(env, params, nil))(t)
	for i, p := range params {
		if want := solver.TabularMu(env, p); !slices.Equal(table.Mu[i], want) {
			t.Errorf("policy %d: μ = %v, want %v", i, table.Mu[i], want)
		}
	}
}

func TestNewTableOfDriver(t *testing.T) {
	env := driver.New()
	params := [][]float64{{0, 0.5, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0.5}, {1, 1, -1, 1, 0, 1, 0.3, -0.2, -0.3, 0}}
	table := must.Get(solver.NewTable(env, params, nil))(t)
	theta := []float64{1, -2, 0.5, -0.3, 0.1}
	for i, p := range params {
		if got, want := floats.Dot(theta, table.Mu[i]), env.Return(nil, p, theta); !scalar.EqualWithinAbsOrRel(got, want, 1e-12, 1e-12) {
			t.Errorf("policy %d: θ·μ = %v, want the return %v", i, got, want)
		}
	}
}

func TestBestTakesTheFirstMaximum(t *testing.T) {
	table := &solver.Table{Params: make([][]float64, 5), Mu: [][]float64{{0, 1}, {2, 0}, {1, 1}, {2, 0}, {-3, 1}}}
	for _, test := range []struct {
		theta []float64
		index int
		value float64
	}{
		{[]float64{1, 0}, 1, 2},
		{[]float64{0, 1}, 0, 1},
		{[]float64{0, 0}, 0, 0},
		{[]float64{1, 1}, 1, 2},
		{[]float64{-1, 0}, 4, 3},
		{[]float64{1, 3}, 2, 4},
	} {
		if i, v := table.Best(test.theta); i != test.index || v != test.value {
			t.Errorf("best for %v = %d with %v, want %d with %v", test.theta, i, v, test.index, test.value)
		}
	}
}

func TestBestIsSharedAndDoesNotAllocate(t *testing.T) {
	table := allPolicies(t, chain(make([]float64, 20)))
	theta := []float64{1}
	if n := testing.AllocsPerRun(20, func() { table.Best(theta) }); n != 0 {
		t.Errorf("Best allocates %v times", n)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if i, _ := table.Best(theta); i != 0 {
				t.Errorf("best of equal policies = %d, want the first", i)
			}
		})
	}
	wg.Wait()
}

func TestAppend(t *testing.T) {
	a := &solver.Table{Params: [][]float64{{0}, {1}}, Mu: [][]float64{{1, 0}, {0, 1}}}
	b := &solver.Table{Params: [][]float64{{2}}, Mu: [][]float64{{5, 5}}}
	both := a.Append(b)
	if i, v := both.Best([]float64{1, 1}); i != 2 || v != 10 || both.Params[i][0] != 2 {
		t.Errorf("best of both = %d with %v, want 2 with 10", i, v)
	}
	if a.Len() != 2 || b.Len() != 1 || both.Len() != 3 {
		t.Errorf("lengths are %d, %d and %d, want 2, 1 and 3", a.Len(), b.Len(), both.Len())
	}
}

func newDriver() idrl.Differentiable { return driver.New() }

func TestTableRefusals(t *testing.T) {
	env := &slope{}
	for name, params := range map[string][][]float64{"no policy": nil, "wrong length": {make([]float64, 6), make([]float64, 5)}} {
		if _, err := solver.NewTable(env, params, nil); err == nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error = %v, want one of kind Invalid", name, err)
		}
	}
}

func BenchmarkNewTableOfChain(b *testing.B) {
	env := chain(make([]float64, 20))
	all := must.Get(solver.AllPolicies(env))(b)
	for b.Loop() {
		must.Get(solver.NewTable(env, all, nil))(b)
	}
}

func BenchmarkBest(b *testing.B) {
	table := allPolicies(b, chain(make([]float64, 20)))
	theta := []float64{1}
	for b.Loop() {
		table.Best(theta)
	}
}
