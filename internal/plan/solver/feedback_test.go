package solver_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"github.com/google/go-cmp/cmp"
)

// addFeedback solves in a rover.
func addFeedback(t *testing.T, f solver.Feedback, env idrl.Environment, theta []float64, warm [][]float64, seed uint64) []float64 {
	t.Helper()
	p := must.Get(f.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: theta, Warm: warm}, rng.New(seed, "solve", 0)))(t)
	return p.Params()
}

func still() [][]float64 { return [][]float64{make([]float64, 7)} }

// TestFeedbackLearnsBalance: without feedback the rover falls from every start; in
// episodes that end at a fall it learns to stand to the end.
func TestFeedbackLearnsBalance(t *testing.T) {
	theta := []float64{0, 0, 1} // a point for every step that it stands
	whole := func(params []float64) float64 { return roverReturn(t, idrl.UntilFall(&fallingRover{}), params, theta) }
	before := whole(still()[0])
	for seed := range uint64(3) {
		f := solver.Feedback{Iterations: 200, NoiseStd: 0.3, StepSize: 0.3}
		params := addFeedback(t, f, idrl.UntilFall(&fallingRover{}), theta, still(), seed)
		if v := whole(params); !(v > roverHorizon-1e-6 && before < 40) {
			t.Errorf("seed %d: it stands for %v steps on average, without feedback %v; want all %d", seed, v, before, roverHorizon)
		}
		parts := params[7:]
		if len(parts) != 4*5 || !slices.Equal(parts[:4], []float64{0, 1, 2, 3}) {
			t.Errorf("seed %d: feedback from %v", seed, parts)
		}
	}
}

// namedRover names the observations for feedback, and one of them does not vary.
type namedRover struct{ rover }

func (e *namedRover) Spec() idrl.EnvSpec {
	spec := e.rover.Spec()
	spec.Gait.Feedback = []int{1, 2, 3}
	return spec
}

func (e *namedRover) Step(a idrl.Action) idrl.TimeStep {
	step := e.rover.Step(a)
	step.Obs[2] = 7
	return step
}

func (e *namedRover) Reset(rng *rand.Rand) idrl.TimeStep {
	step := e.rover.Reset(rng)
	step.Obs[2] = 7
	return step
}

// TestFeedbackBegins: with no iteration the result is the best of the warm starts, and the
// search has the observations that are named and vary.
func TestFeedbackBegins(t *testing.T) {
	slow, fast := slices.Clone(balance()), slices.Clone(balance())
	slow[1], fast[1] = 0.1, 0.9
	got := addFeedback(t, solver.Feedback{MaxSteps: 1}, &rover{}, []float64{1, 0, 0}, [][]float64{slow, fast}, 1)
	if diff := cmp.Diff(fast, got); diff != "" {
		t.Errorf("without an iteration (-best start +got):\n%s", diff)
	}
	named := addFeedback(t, solver.Feedback{Iterations: 30}, &namedRover{}, []float64{1, 0, 0}, still(), 1)
	if len(named) != 7+2*5 || !slices.Equal(named[7:9], []float64{1, 3}) {
		t.Errorf("feedback from observations %v, want those named that vary: 1 and 3", named[7:])
	}
	got = addFeedback(t, solver.Feedback{Iterations: 20}, &rover{}, []float64{1, 0, 0}, [][]float64{slow, fast}, 1)
	if !slices.Equal(got[7:9], fast[7:9]) || !slices.Equal(got[len(got)-4:], fast[len(fast)-4:]) {
		t.Errorf("a gait with feedback got other scales: %v", got)
	}
	if a, b := roverReturn(t, &rover{}, got, []float64{1, 0, 0}), roverReturn(t, &rover{}, fast, []float64{1, 0, 0}); a < b {
		t.Errorf("return %v, the start has %v", a, b)
	}
}

func TestFeedbackDoesNotDependOnWorkers(t *testing.T) {
	f := solver.Feedback{Iterations: 12, Every: 5}
	theta := []float64{1, 0.3, 0}
	want := addFeedback(t, f, &rover{}, theta, still(), 4)
	f.NewEnv = func() idrl.Environment { return &rover{} }
	for _, workers := range []int{1, 3, 20} {
		f.Workers = workers
		if diff := cmp.Diff(want, addFeedback(t, f, &rover{}, theta, still(), 4)); diff != "" {
			t.Errorf("%d workers (-one +many):\n%s", workers, diff)
		}
	}
	if slices.Equal(want, addFeedback(t, f, &rover{}, theta, still(), 5)) {
		t.Error("another stream gives the same gait")
	}
}

func TestFeedbackGoesOn(t *testing.T) {
	goesOn(t, solver.Feedback{Iterations: 8, Every: 3}, still())
}

// TestFeedbackLeavesOutWhatBreaksDown: beyond 3 the simulation breaks down, so that the
// best gait stays below.
func TestFeedbackLeavesOutWhatBreaksDown(t *testing.T) {
	got := addFeedback(t, solver.Feedback{Iterations: 80, Every: 1, NoiseStd: 0.1, StepSize: 0.1}, &rover{limit: 3}, []float64{1, 0, 0}, [][]float64{balance()}, 1)
	if v := roverReturn(t, &rover{limit: 3}, got, []float64{1, 0, 0}); !(v > 1 && v < 3.2) {
		t.Errorf("return %v, want more than 1, where the start has about 0, and at most 3", v)
	}
	_, err := solver.Feedback{}.Solve(t.Context(), idrl.SolveTask{Env: &rover{limit: 1e-9}, Theta: []float64{1, 0, 0}, Warm: still()}, rng.New(1, "", 0))
	if !errors.Is(err, solver.ErrBroken) {
		t.Errorf("all break down: error = %v", err)
	}
}

func TestFeedbackRefusals(t *testing.T) {
	settings := map[string]solver.Feedback{
		"":                    {},
		"negative step":       {StepSize: -1},
		"negative noise":      {NoiseStd: -1},
		"no directions":       {Directions: -1},
		"more than all":       {Directions: 4, Top: 5},
		"negative iterations": {Iterations: -1},
		"negative bound":      {MaxSteps: -1},
		"judged never":        {Every: -1},
		"nothing remembered":  {Judging: solver.Judging{Keep: -1}},
	}
	var changes []string
	for name := range settings {
		if name != "" {
			changes = append(changes, name)
		}
	}
	refusals(t, func(change string) idrl.Solver { return settings[change] }, changes, still())
	if _, err := (solver.Feedback{}).Solve(t.Context(), idrl.SolveTask{Env: &rover{}, Theta: make([]float64, 3)}, rng.New(1, "", 0)); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("no warm start: error = %v, want one of kind Invalid", err)
	}
	v := must.Get(solver.Feedback{}.Begin(t.Context(), idrl.SolveTask{Env: &rover{}, Theta: make([]float64, 3), Warm: still()}, 1))(t)
	if _, err := (solver.Feedback{Top: 2}).Continue(&rover{}, v.Encode()); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("other settings: error = %v", err)
	}
	if _, err := (solver.Feedback{}).Continue(&glider{}, v.Encode()); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("another environment: error = %v", err)
	}
}
