package solver_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"tiebreak/envs/driver"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/internal/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
)

func TestNewTableIsExact(t *testing.T) {
	env := randomMDP(9, 4, 0.9, rng.New(1, "mdp", 0))
	params := [][]float64{make([]float64, 9), {0, 1, 2, 0, 1, 2, 0, 1, 2}, {2, 2, 2, 2, 2, 2, 2, 2, 1}}
	table, err := solver.NewTable(env, params, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range params {
		if want := solver.TabularMu(env, p); !slices.Equal(table.Mu[i], want) {
			t.Errorf("policy %d: μ = %v, want %v", i, table.Mu[i], want)
		}
	}
}

func TestNewTableOfDriver(t *testing.T) {
	env := driver.New()
	params := [][]float64{{0, 0.5, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0.5}, {1, 1, -1, 1, 0, 1, 0.3, -0.2, -0.3, 0}}
	table, err := solver.NewTable(env, params, nil)
	if err != nil {
		t.Fatal(err)
	}
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

func TestLookup(t *testing.T) {
	var v chainVector
	load(t, "chain_mdp", &v)
	env := chain(v.Inputs.Rewards)
	var s idrl.Solver = solver.Lookup{Table: allPolicies(t, env)}
	p, err := s.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: []float64{1}}, nil)
	if err != nil || !slices.Equal(p.Params(), v.Outputs.BestActions) {
		t.Errorf("policy = %v, error %v; want %v", p, err, v.Outputs.BestActions)
	}
}

// fixed is a solver that always returns one policy.
type fixed []float64

func (f fixed) Solve(_ context.Context, task idrl.SolveTask, _ *rand.Rand) (idrl.Policy, error) {
	return solver.FromParams(task.Env, f)
}

func TestWithTable(t *testing.T) {
	env := &slope{}
	none, right, up := make([]float64, 6), []float64{1, 0, 1, 0, 1, 0}, []float64{0, 0.25, 0, 0.25, 0, 0.25}
	table, err := solver.NewTable(env, [][]float64{none, right}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		theta []float64
		inner []float64
		want  []float64
	}{
		{"the table is better", []float64{1, 0, 0, 0}, up, right},
		{"the table is worse", []float64{0, 1, 0, 0}, up, up},
		{"both are as good", []float64{1, 0, 0, 0}, right, right},
		{"nothing is better than another", make([]float64, 4), up, up},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := solver.WithTable{Solver: fixed(test.inner), Table: table}
			p, err := s.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: test.theta}, nil)
			if err != nil || !slices.Equal(p.Params(), test.want) {
				t.Errorf("policy = %v, error %v; want %v", p, err, test.want)
			}
		})
	}
}

// TestWithTableOnDriver: one start and a table do at least as well as either.
func TestWithTableOnDriver(t *testing.T) {
	env := driver.New()
	theta := []float64{0.5, -1, 0.3, -1, 1}
	table, err := solver.BuildTable(t.Context(), solver.TableConfig{
		NewEnv: newDriver, Thetas: [][]float64{{0.4, -1.1, 0.2, -0.9, 1}}, Restarts: 5,
	}, rng.New(1, "table", 0))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		task := idrl.SolveTask{Env: env, Theta: theta, Restarts: 1}
		alone, err := solver.ActionSequence{}.Solve(t.Context(), task, rng.New(seed, "solve", 0))
		if err != nil {
			t.Fatal(err)
		}
		helped, err := solver.WithTable{Solver: solver.ActionSequence{}, Table: table}.Solve(t.Context(), task, rng.New(seed, "solve", 0))
		if err != nil {
			t.Fatal(err)
		}
		_, inTable := table.Best(theta)
		want := max(inTable, env.Return(nil, alone.Params(), theta))
		if got := env.Return(nil, helped.Params(), theta); !scalar.EqualWithinAbs(got, want, 1e-12) {
			t.Errorf("seed %d: return %v, want the better of solver and table, %v", seed, got, want)
		}
	}
}

func newDriver() idrl.Differentiable { return driver.New() }

func TestTableRefusals(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	env := &slope{}
	good, err := solver.NewTable(env, [][]float64{make([]float64, 6)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fit := idrl.SolveTask{Env: env, Theta: make([]float64, 4)}
	short := idrl.SolveTask{Env: env, Theta: make([]float64, 3)}
	other := idrl.SolveTask{Env: chain([]float64{0, 1}), Theta: []float64{1}}
	for _, test := range []struct {
		name   string
		ctx    context.Context
		solver idrl.Solver
		task   idrl.SolveTask
		want   error // nil: of kind Invalid
	}{
		{"look-up cancelled", cancelled, solver.Lookup{Table: good}, fit, context.Canceled},
		{"look-up without a table", t.Context(), solver.Lookup{}, fit, nil},
		{"look-up in an empty table", t.Context(), solver.Lookup{Table: &solver.Table{}}, fit, nil},
		{"look-up with wrong weights", t.Context(), solver.Lookup{Table: good}, short, nil},
		{"look-up for another environment", t.Context(), solver.Lookup{Table: good}, other, nil},
		{"solver cancelled", cancelled, solver.WithTable{Solver: solver.ActionSequence{}, Table: good}, fit, context.Canceled},
		{"solver without a table", t.Context(), solver.WithTable{Solver: solver.ActionSequence{}}, fit, nil},
		{"solver with wrong weights", t.Context(), solver.WithTable{Solver: solver.ActionSequence{}, Table: good}, short, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.solver.Solve(test.ctx, test.task, rng.New(1, "", 0))
			if test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("error = %v, want %v", err, test.want)
			}
			if test.want == nil && (err == nil || idrl.KindOf(err) != idrl.Invalid) {
				t.Errorf("error = %v, want one of kind Invalid", err)
			}
		})
	}
	for name, params := range map[string][][]float64{"no policy": nil, "wrong length": {make([]float64, 6), make([]float64, 5)}} {
		if _, err := solver.NewTable(env, params, nil); err == nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error = %v, want one of kind Invalid", name, err)
		}
	}
}

func BenchmarkNewTableOfChain(b *testing.B) {
	env := chain(make([]float64, 20))
	all, err := solver.AllPolicies(env)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := solver.NewTable(env, all, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBest(b *testing.B) {
	table := allPolicies(b, chain(make([]float64, 20)))
	theta := []float64{1}
	for b.Loop() {
		table.Best(theta)
	}
}
