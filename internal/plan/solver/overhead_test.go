package solver_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
)

// boxed is a task of given sizes in which observations, features and actions do
// not matter. A step takes busy, and inside is the time taken by all steps.
type boxed struct {
	obs, act, features, horizon int
	busy, inside                time.Duration

	o, phi []float64
	t      int
}

func newBoxed(obs, act, features, horizon int) *boxed {
	return &boxed{obs: obs, act: act, features: features, horizon: horizon, o: make([]float64, obs), phi: make([]float64, features)}
}

func (e *boxed) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "boxed", Actions: idrl.ActionSpec{Low: slices.Repeat([]float64{-1}, e.act), High: slices.Repeat([]float64{1}, e.act)},
		ObsDim: e.obs, FeatureNames: make([]string, e.features), Horizon: e.horizon, Discount: 1,
	}
}

func (e *boxed) Reset(rng *rand.Rand) idrl.TimeStep {
	e.t = 0
	for i := range e.o {
		e.o[i] = rng.NormFloat64()
	}
	return idrl.TimeStep{Obs: e.o}
}

func (e *boxed) Step(a idrl.Action) idrl.TimeStep {
	begin := time.Now()
	e.t++
	e.o[e.t%e.obs] = a[0]
	e.phi[e.t%e.features] = a[0]
	step := idrl.TimeStep{Kind: idrl.Mid, Obs: e.o, Phi: e.phi}
	if e.t == e.horizon {
		step.Kind = idrl.Truncated
	}
	if e.busy > 0 {
		for time.Since(begin) < e.busy {
		}
		e.inside += time.Since(begin)
	}
	return step
}

// TestARSDoesNotAllocateByTheStep: longer episodes allocate no more. Fewer than
// one an episode is what the runtime does beside.
func TestARSDoesNotAllocateByTheStep(t *testing.T) {
	for name, normalise := range map[string]bool{"raw": false, "normalised": true} {
		const episodes = 2 + 3*(8+2)
		allocs := func(horizon int) float64 {
			a := solver.ARS{Directions: 4, Iterations: 3, Episodes: 2, Normalise: normalise}
			task := idrl.SolveTask{Env: newBoxed(24, 2, 39, horizon), Theta: slices.Repeat([]float64{1}, 39)}
			return testing.AllocsPerRun(10, func() { search(t, a, task) })
		}
		if short, long := allocs(10), allocs(200); long-short >= episodes {
			t.Errorf("%s: %v allocations with 10 steps an episode, %v with 200", name, short, long)
		}
	}
}

// BenchmarkARSOverhead reports the share of time outside the environment, whose
// steps take as long as those of the fastest robot.
func BenchmarkARSOverhead(b *testing.B) {
	for _, size := range []struct{ obs, act, features int }{{24, 2, 39}, {111, 8, 39}} {
		for _, normalise := range []bool{false, true} {
			b.Run(fmt.Sprintf("obs=%d/act=%d/normalise=%v", size.obs, size.act, normalise), func(b *testing.B) {
				env := newBoxed(size.obs, size.act, size.features, 500)
				env.busy = 30 * time.Microsecond
				a := solver.ARS{Directions: 4, Iterations: 2, Episodes: 2, Normalise: normalise}
				task := idrl.SolveTask{Env: env, Theta: slices.Repeat([]float64{1}, size.features)}
				for b.Loop() {
					must.Get(a.Solve(b.Context(), task, rng.New(1, "solve", 0)))(b)
				}
				b.ReportMetric(100*(1-env.inside.Seconds()/b.Elapsed().Seconds()), "%outside")
			})
		}
	}
}
