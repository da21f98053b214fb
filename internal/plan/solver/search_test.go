package solver_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
)

// TestARSEvaluatesFromCommonStarts: every evaluation sees the same first
// observations and draws the same noise, whatever the policy.
func TestARSEvaluatesFromCommonStarts(t *testing.T) {
	const evaluation, directions = 4, 2
	env := &drift{}
	a := solver.ARS{Directions: directions, Iterations: 3, Episodes: evaluation}
	search(t, a, idrl.SolveTask{Env: env, Theta: []float64{1, 0}, Warm: [][]float64{make([]float64, 6), {0.1, 0, 0, 0, 0, 0}}})
	first := env.episodes[:evaluation]
	evaluations := [][]episode{env.episodes[evaluation : 2*evaluation]}
	for rest := env.episodes[2*evaluation:]; len(rest) > 0; rest = rest[2*directions+evaluation:] {
		evaluations = append(evaluations, rest[2*directions:][:evaluation])
	}
	if len(evaluations) != 4 {
		t.Fatalf("%d further evaluations, want 4", len(evaluations))
	}
	for i, ep := range first {
		if i > 0 && slices.Equal(ep.obs[0], first[0].obs[0]) {
			t.Error("two episodes of an evaluation begin alike")
		}
		for _, evaluation := range evaluations {
			if !slices.Equal(evaluation[i].obs[0], ep.obs[0]) {
				t.Errorf("episode %d begins at %v, in the first evaluation at %v", i, evaluation[i].obs[0], ep.obs[0])
			}
		}
	}
}

func TestARSKeepsWithinItsBound(t *testing.T) {
	const evaluation, directions, iterations = 3, 2, 5
	start, iteration := evaluation*driftHorizon, (2*directions+evaluation)*driftHorizon
	warm := [][]float64{make([]float64, 6), make([]float64, 6), make([]float64, 6)}
	for _, test := range []struct {
		name  string
		warm  [][]float64
		bound int
		want  int // steps
	}{
		{"none", nil, 0, start + iterations*iteration},
		{"less than the start", nil, 1, start},
		{"the start", nil, start, start},
		{"one step too few for an iteration", nil, start + iteration - 1, start},
		{"an iteration", nil, start + iteration, start + iteration},
		{"two and a half iterations", nil, start + iteration*5/2, start + 2*iteration},
		{"more than enough", nil, 1000 * iteration, start + iterations*iteration},
		{"two of three starts", warm, 3*start - 1, 2 * start},
		{"three starts", warm, 3 * start, 3 * start},
		{"three starts and an iteration", warm, 3*start + iteration, 3*start + iteration},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := &drift{}
			a := solver.ARS{Directions: directions, Iterations: iterations, Episodes: evaluation, MaxSteps: test.bound}
			search(t, a, idrl.SolveTask{Env: env, Theta: []float64{1, 0}, Warm: test.warm})
			if env.steps() != test.want {
				t.Errorf("%d steps, want %d", env.steps(), test.want)
			}
		})
	}
}

// TestARSBoundCountsTheStepsTaken: episodes that break down early leave steps
// for more iterations.
func TestARSBoundCountsTheStepsTaken(t *testing.T) {
	const bound = 60 * driftHorizon
	env := &drift{limit: 1.9}
	a := solver.ARS{NoiseStd: 0.3, Directions: 4, Iterations: 1000, Episodes: 2, MaxSteps: bound}
	search(t, a, idrl.SolveTask{Env: env, Theta: []float64{1, 0}})
	if n := env.steps(); n > bound || n <= bound-(2*4+2)*driftHorizon || len(env.episodes) <= bound/driftHorizon {
		t.Errorf("%d steps in %d episodes, within a bound of %d", n, len(env.episodes), bound)
	}
}

// TestARSWhereEverythingBreaksDown: in the last row because the search goes on
// from its only start, beside which nothing else was to be found.
func TestARSWhereEverythingBreaksDown(t *testing.T) {
	wild := []float64{30, 0, 0, 0, 30, 0}
	for _, test := range []struct {
		name string
		ars  solver.ARS
		env  *drift
		warm [][]float64
	}{
		{"raw", solver.ARS{Iterations: 2}, &drift{limit: 0.01}, nil},
		{"normalised", solver.ARS{Iterations: 2, Normalise: true}, &drift{limit: 0.01}, nil},
		{"around the start", solver.ARS{Iterations: 2}, &drift{limit: 4}, [][]float64{wild}},
	} {
		task := idrl.SolveTask{Env: test.env, Theta: []float64{1, 0}, Warm: test.warm}
		p, err := test.ars.Solve(t.Context(), task, rng.New(1, "solve", 0))
		if p != nil || !errors.Is(err, solver.ErrBroken) {
			t.Errorf("%s: policy %v, error %v, want ErrBroken", test.name, p, err)
		}
	}
}

func TestARSWithoutRewardCostsOneEvaluation(t *testing.T) {
	env := &drift{}
	search(t, solver.ARS{Episodes: 3}, idrl.SolveTask{Env: env, Theta: []float64{0, 0}})
	if len(env.episodes) != 3 {
		t.Errorf("%d episodes, want the 3 of one evaluation", len(env.episodes))
	}
}

// TestARSNeverReturnsWhatBreaksDown: the first of the starts breaks down, and
// would have the highest return for what it does before.
func TestARSNeverReturnsWhatBreaksDown(t *testing.T) {
	wild, brisk, calm := []float64{3, 0, 0, 0, 3, 0}, []float64{0.2, 0, 0, 0, 0, 0}, make([]float64, 6)
	for _, test := range []struct {
		name  string
		theta []float64
		ars   solver.ARS
		warm  [][]float64
	}{
		{"beside a calm one", []float64{1, 0}, solver.ARS{Iterations: 1, Episodes: 4}, [][]float64{wild, calm}},
		{"without a reward", []float64{0, 0}, solver.ARS{Episodes: 4}, [][]float64{wild, calm}},
		{"alone", []float64{1, 0}, solver.ARS{Iterations: 20, Directions: 20, StepSize: 0.1, NoiseStd: 0.2, Episodes: 4}, [][]float64{brisk}},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := &drift{limit: 4}
			p, mu, err := test.ars.SolveMu(t.Context(), idrl.SolveTask{Env: env, Theta: test.theta, Warm: test.warm}, rng.New(2, "solve", 0))
			if err != nil {
				t.Fatal(err)
			}
			if !anyBroken(env.episodes[:test.ars.Episodes]) {
				t.Error("the first start does not break down")
			}
			if slices.Equal(p.Params(), test.warm[0]) || floats.HasNaN(p.Params()) || floats.HasNaN(mu) {
				t.Errorf("parameters %v with μ = %v", p.Params(), mu)
			}
		})
	}
}

// TestARSDoesNotDependOnWorkers, nor does what it returns when it is bounded or
// episodes break down.
func TestARSDoesNotDependOnWorkers(t *testing.T) {
	base := solver.ARS{Iterations: 8, Directions: 5, Top: 3}
	for _, test := range []struct {
		name   string
		newEnv func() idrl.Environment
		change func(a *solver.ARS)
	}{
		{"raw", newGlider, func(*solver.ARS) {}},
		{"normalised", newGlider, func(a *solver.ARS) { a.Normalise = true }},
		{"bounded", newGlider, func(a *solver.ARS) { a.MaxSteps = 75 * gliderHorizon }},
		{"breaking down", newFragile, func(*solver.ARS) {}},
		{"all at once", newFragile, func(a *solver.ARS) { a.Normalise, a.MaxSteps = true, 75*driftHorizon }},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := base
			test.change(&a)
			task := idrl.SolveTask{Theta: []float64{1, 0}}
			run := func() ([]float64, []float64) {
				task.Env = test.newEnv()
				p, mu, err := a.SolveMu(t.Context(), task, rng.New(1, "solve", 0))
				if err != nil {
					t.Fatal(err)
				}
				return p.Params(), mu
			}
			want, wantMu := run()
			if slices.Equal(want[:6], make([]float64, 6)) {
				t.Error("the search did not move")
			}
			a.NewEnv = test.newEnv
			for _, workers := range []int{1, 2, 4, 50} {
				a.Workers = workers
				if got, mu := run(); !slices.Equal(got, want) || !slices.Equal(mu, wantMu) {
					t.Errorf("with %d workers: %v with μ = %v, want %v with %v", workers, got, mu, want, wantMu)
				}
			}
		})
	}
}

func newFragile() idrl.Environment { return &drift{limit: 1.9} }

// TestARSStopsAfterTheEpisode: wherever ctx ends, the episode under way is the
// last.
func TestARSStopsAfterTheEpisode(t *testing.T) {
	a := solver.ARS{Directions: 2, Iterations: 2, Episodes: 2}
	const episodes = 2 + 2*(4+2)
	for at := 1; at <= episodes*driftHorizon; at += 5 {
		ctx, cancel := context.WithCancel(t.Context())
		env := &drift{stop: cancel, stopAt: at}
		_, err := a.Solve(ctx, idrl.SolveTask{Env: env, Theta: []float64{1, 0}}, rng.New(1, "solve", 0))
		want := (at + driftHorizon - 1) / driftHorizon * driftHorizon
		if !errors.Is(err, context.Canceled) || env.steps() != want {
			t.Errorf("cancelled in step %d: error %v after %d steps, want %d", at, err, env.steps(), want)
		}
	}
}

func TestARSForTakesTheSettingsOfTheEnvironment(t *testing.T) {
	spec := (&glider{}).Spec()
	spec.Search = idrl.Search{
		StepSize: 0.3, NoiseStd: 0.2, Directions: 8, Top: 4, Iterations: 50, Episodes: 5, Normalise: true, LiveSteps: 1000,
	}
	got := solver.ARSFor(spec)
	if got.StepSize != 0.3 || got.NoiseStd != 0.2 || got.Directions != 8 || got.Top != 4 || got.Iterations != 50 ||
		got.Episodes != 5 || !got.Normalise || got.MaxSteps != 0 {
		t.Errorf("search = %+v, want the settings %+v", got, spec.Search)
	}
}

// TestForContinuousActions: zero settings are the defaults, and what For's
// solver returns FromParams takes.
func TestForContinuousActions(t *testing.T) {
	task := idrl.SolveTask{Env: &glider{}, Theta: []float64{1, 0}}
	got := solve(t, task).Params()
	if want := search(t, solver.ARS{}, task).Params(); !slices.Equal(got, want) {
		t.Errorf("parameters = %v, want those of the defaults, %v", got, want)
	}
	p := must.Get(solver.FromParams(task.Env, got))(t)
	if _, ok := p.(*solver.Linear); !ok || !slices.Equal(p.Params(), got) {
		t.Errorf("policy %T with %v, want a *Linear with %v", p, p.Params(), got)
	}
}

// TestMuLeavesOutWhatBreaksDown compares with the episodes remembered.
func TestMuLeavesOutWhatBreaksDown(t *testing.T) {
	env := &drift{limit: 1.2}
	p := must.Get(solver.NewLinear(env.Spec(), make([]float64, 6)))(t)
	got := solver.Mu(env, p, rng.New(1, "mu", 0))
	whole := slices.DeleteFunc(slices.Clone(env.episodes), func(ep episode) bool { return ep.broken })
	if n := len(whole); n == 0 || n == len(env.episodes) {
		t.Fatalf("%d of %d episodes did not break down", n, len(env.episodes))
	}
	if want := meanMu(whole); !floats.EqualApprox(got, want, 1e-12) {
		t.Errorf("μ = %v, want %v", got, want)
	}
	if got := solver.Mu(&drift{limit: 0.01}, p, rng.New(1, "mu", 0)); len(got) != 2 || !scalar.Same(got[0], math.NaN()) {
		t.Errorf("μ = %v where all break down, want NaN", got)
	}
}
