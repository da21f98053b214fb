package solver_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
)

// authorsWeights returns n weights of d features, all normal but the last,
// which is 1.
func authorsWeights(n, d int) [][]float64 {
	stream := rng.New(1, "weights", 0)
	out := make([][]float64, n)
	for k := range out {
		out[k] = make([]float64, d)
		for i := range d - 1 {
			out[k][i] = stream.NormFloat64()
		}
		out[k][d-1] = 1
	}
	return out
}

func newSlope() idrl.Differentiable { return &slope{} }

func build(t *testing.T, c solver.TableConfig) *solver.Table {
	t.Helper()
	table := must.Get(solver.BuildTable(t.Context(), c, rng.New(5, "table", 0)))(t)
	return table
}

func TestBuildTable(t *testing.T) {
	thetas := authorsWeights(12, 4)
	table := build(t, solver.TableConfig{NewEnv: newSlope, Thetas: thetas, Restarts: 2})
	env := &slope{}
	for k, theta := range thetas {
		value := env.Return(nil, table.Params[k], theta)
		if mu := floats.Dot(table.Mu[k], theta); !scalar.EqualWithinAbsOrRel(mu, value, 1e-12, 1e-12) {
			t.Errorf("policy %d: θ·μ = %v, want its return %v", k, mu, value)
		}
		if _, best := table.Best(theta); best > value+1e-6 && theta[2] > 0 { // concave in x: one optimum
			t.Errorf("policy %d has return %v, another of the table %v", k, value, best)
		}
	}
}

func TestBuildTableDoesNotDependOnWorkers(t *testing.T) {
	for name, c := range map[string]solver.TableConfig{
		"slope":  {NewEnv: newSlope, Thetas: authorsWeights(20, 4)},
		"driver": {NewEnv: newDriver, Thetas: authorsWeights(4, 5), Restarts: 2},
	} {
		want := build(t, c)
		for _, workers := range []int{2, 7} {
			c.Workers = workers
			if diff := cmp.Diff(want, build(t, c)); diff != "" {
				t.Errorf("%s with %d workers (-one +many):\n%s", name, workers, diff)
			}
		}
	}
}

func TestBuildTableReportsProgress(t *testing.T) {
	var seen []int
	build(t, solver.TableConfig{NewEnv: newSlope, Thetas: authorsWeights(6, 4), Workers: 3, Progress: func(done, total int, what string) {
		if total != 6 || what == "" {
			t.Errorf("progress of %d steps: %q, want 6 and a text", total, what)
		}
		seen = append(seen, done)
	}})
	if !slices.Equal(seen, []int{1, 2, 3, 4, 5, 6}) {
		t.Errorf("progress = %v, want 1 to 6", seen)
	}
}

func TestBuildTableRefusals(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := solver.TableConfig{NewEnv: newSlope, Thetas: authorsWeights(50, 4), Workers: 2, Progress: func(int, int, string) { cancel() }}
	if _, err := solver.BuildTable(ctx, c, rng.New(1, "", 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error = %v", err)
	}
	for name, thetas := range map[string][][]float64{"no weights": nil, "wrong length": {make([]float64, 4), make([]float64, 3)}} {
		c := solver.TableConfig{NewEnv: newSlope, Thetas: thetas, Workers: 2}
		if _, err := solver.BuildTable(t.Context(), c, rng.New(1, "", 0)); err == nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error = %v, want one of kind Invalid", name, err)
		}
	}
}

// steep is a slope with other dynamics and the same description.
type steep struct{ slope }

func (e *steep) Step(a idrl.Action) idrl.TimeStep {
	e.x += 1e-9
	return e.slope.Step(a)
}

func TestKeyNamesWhatATableIsBuiltFrom(t *testing.T) {
	base := func() solver.TableConfig {
		return solver.TableConfig{NewEnv: newSlope, Thetas: authorsWeights(3, 4), Restarts: 2}
	}
	key := base().Key(1)
	same := base()
	same.Workers, same.Progress = 9, func(int, int, string) {}
	if same.Key(1) != key {
		t.Error("workers or progress change the key")
	}
	keys := map[string]string{"equal": key, "another seed": base().Key(2)}
	for name, change := range map[string]func(c *solver.TableConfig){
		"another restart":  func(c *solver.TableConfig) { c.Restarts++ },
		"other weights":    func(c *solver.TableConfig) { c.Thetas[2][1] += 1e-15 },
		"fewer weights":    func(c *solver.TableConfig) { c.Thetas = c.Thetas[:2] },
		"another dynamics": func(c *solver.TableConfig) { c.NewEnv = func() idrl.Differentiable { return &steep{} } },
		"another task":     func(c *solver.TableConfig) { c.NewEnv = newDriver },
	} {
		c := base()
		change(&c)
		keys[name] = c.Key(1)
	}
	seen := map[string]string{}
	for name, k := range keys {
		if other, ok := seen[k]; ok {
			t.Errorf("%s and %s have the same key", name, other)
		}
		seen[k] = name
	}
}

func BenchmarkBuildTableOfDriver(b *testing.B) {
	c := solver.TableConfig{NewEnv: newDriver, Thetas: authorsWeights(50, 5), Restarts: 10, Workers: runtime.GOMAXPROCS(0)}
	for b.Loop() {
		must.Get(solver.BuildTable(b.Context(), c, rng.New(1, "table", 0)))(b)
	}
}
