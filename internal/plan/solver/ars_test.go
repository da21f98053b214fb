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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat"
)

func flatten(rows [][]float64) []float64 { return slices.Concat(rows...) }

// The numbers are vector "ars_update" of the authors' code.
func TestARSUpdateMatchesAuthorsCode(t *testing.T) {
	var v struct {
		Inputs struct {
			Theta    [][]float64   `json:"theta"`
			Deltas   [][][]float64 `json:"deltas"`
			Plus     []float64     `json:"reward_plus"`
			Minus    []float64     `json:"reward_minus"`
			StepSize float64       `json:"step_size"`
			B        int           `json:"b"`
		} `json:"inputs"`
		Outputs struct {
			Theta [][]float64 `json:"theta_new"`
		} `json:"outputs"`
	}
	load(t, "ars_update", &v)
	weights := flatten(v.Inputs.Theta)
	var deltas [][]float64
	for _, d := range v.Inputs.Deltas {
		deltas = append(deltas, flatten(d))
	}
	solver.ARSUpdate(weights, deltas, v.Inputs.Plus, v.Inputs.Minus, v.Inputs.StepSize, v.Inputs.B)
	if diff := cmp.Diff(flatten(v.Outputs.Theta), weights, cmpopts.EquateApprox(vectorTol, 0)); diff != "" {
		t.Errorf("weights (-want +got):\n%s", diff)
	}
}

// TestARSUpdateByHand: returns 3, 1, 0, 2 have population variance 5/4.
func TestARSUpdateByHand(t *testing.T) {
	deltas := [][]float64{{1, 0}, {0, 1}}
	step := 1 / math.Sqrt(1.25)
	for _, test := range []struct {
		name        string
		plus, minus []float64
		top         int
		want        []float64
	}{
		{"both directions", []float64{3, 0}, []float64{1, 2}, 2, []float64{step * 2 / 2, -step * 2 / 2}},
		{"the best direction", []float64{3, 0}, []float64{1, 2}, 1, []float64{step * 2, 0}},
		{"the best is the second, backwards", []float64{1, 0}, []float64{2, 3}, 1, []float64{0, -step * 3}},
		{"of equal ones the first", []float64{3, 3}, []float64{1, 1}, 1, []float64{2, 0}},
		{"no difference between directions", []float64{3, 1}, []float64{3, 1}, 2, []float64{0, 0}},
		{"no difference at all", []float64{2, 2}, []float64{2, 2}, 2, []float64{0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			weights := []float64{0, 0}
			solver.ARSUpdate(weights, deltas, test.plus, test.minus, 1, test.top)
			if !floats.EqualApprox(weights, test.want, 1e-12) {
				t.Errorf("weights = %v, want %v", weights, test.want)
			}
		})
	}
}

func newGlider() idrl.Environment { return &glider{} }

func search(t *testing.T, a solver.ARS, task idrl.SolveTask) idrl.Policy {
	t.Helper()
	p := must.Get(a.Solve(t.Context(), task, rng.New(1, "solve", 0)))(t)
	return p
}

// glide returns the mean return of the policy over 200 episodes.
func glide(t *testing.T, env *glider, params []float64) float64 {
	t.Helper()
	p := must.Get(solver.NewLinear(env.Spec(), params))(t)
	sum, stream := 0.0, rng.New(9, "judge", 0)
	for range 20 { // Mu is the mean of ten
		sum += solver.Mu(env, p, stream)[0] / 20
	}
	return sum
}

// TestARSImproves compares with doing nothing and with the policy that goes all
// the way that is left, a = −position, within its bounds, which none beats.
func TestARSImproves(t *testing.T) {
	for _, test := range []struct {
		name  string
		scale float64
		ars   solver.ARS
		gain  float64 // share of the way from idle to the optimum
	}{
		{"raw", 1, solver.ARS{StepSize: 0.1, NoiseStd: 0.1, Iterations: 60}, 0.95},
		{"few directions", 1, solver.ARS{StepSize: 0.1, NoiseStd: 0.1, Iterations: 60, Top: 6}, 0.95},
		{"normalised", 100, solver.ARS{StepSize: 0.03, NoiseStd: 0.03, Iterations: 60, Normalise: true}, 0.95},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := &glider{scale: test.scale}
			idle := glide(t, env, make([]float64, 6))
			optimum := glide(t, env, []float64{-1 / test.scale, 0, 0, 0, -1, 0})
			gain := func(p idrl.Policy) float64 { return (glide(t, env, p.Params()) - idle) / (optimum - idle) }
			task := idrl.SolveTask{Env: env, Theta: []float64{1, 0}}
			cold := search(t, test.ars, task)
			if g := gain(cold); !(g > test.gain && g < 1+1e-9) {
				t.Errorf("share of the possible gain = %v, want %v to 1", g, test.gain)
			}
			task.Warm = [][]float64{make([]float64, 6), cold.Params()}
			test.ars.Iterations = 1
			if g := gain(search(t, test.ars, task)); !(g > test.gain-0.05 && g < 1+1e-9) { // the choice of ten episodes
				t.Errorf("share of the possible gain = %v one iteration after a warm start", g)
			}
		})
	}
}

func TestARSWithoutRewardReturnsTheFirstWarmStart(t *testing.T) {
	first, second := []float64{1, 2, 3, 4, 5, 6}, []float64{6, 5, 4, 3, 2, 1}
	task := idrl.SolveTask{Env: &glider{}, Theta: []float64{0, 0}, Warm: [][]float64{first, second}}
	if got := search(t, solver.ARS{Iterations: 3}, task).Params(); !slices.Equal(got, first) {
		t.Errorf("parameters = %v, want %v", got, first)
	}
	task.Warm = nil
	if got := search(t, solver.ARS{Iterations: 3}, task).Params(); !slices.Equal(got, make([]float64, 6)) {
		t.Errorf("parameters without a warm start = %v, want zeros", got)
	}
}

// TestARSNormalisesByWhatItSaw computes the moments of the observations of the
// perturbed episodes of one iteration again, in two passes.
func TestARSNormalisesByWhatItSaw(t *testing.T) {
	const directions, episodes = 4, 3
	env := &glider{log: [][]float64{}}
	a := solver.ARS{Directions: directions, Iterations: 1, Episodes: episodes, Normalise: true}
	p := search(t, a, idrl.SolveTask{Env: env, Theta: []float64{1, 0}})
	perturbed := env.log[episodes*gliderHorizon : (episodes+2*directions)*gliderHorizon]
	scales := p.Params()[6:] // the iteration made the policy better: it is not the start, which has none
	for i := range 3 {
		var column []float64
		for _, obs := range perturbed {
			column = append(column, obs[i])
		}
		mean, std := stat.PopMeanStdDev(column, nil)
		if i == 2 { // the constant
			std = 1
		}
		if !scalar.EqualWithinRel(scales[i], mean, 1e-12) || !scalar.EqualWithinRel(scales[3+i], std, 1e-12) {
			t.Errorf("observation %d: mean %v and deviation %v, want %v and %v", i, scales[i], scales[3+i], mean, std)
		}
	}
}

// diverging is a glider whose first feature is phi.
type diverging struct {
	glider
	phi float64
}

func (e *diverging) Step(a idrl.Action) idrl.TimeStep {
	step := e.glider.Step(a)
	step.Phi = []float64{e.phi, 1}
	return step
}

func TestARSRefusals(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	fit := idrl.SolveTask{Env: &glider{}, Theta: []float64{1, 0}}
	invalid := func(err error) bool { return err != nil && idrl.KindOf(err) == idrl.Invalid }
	internal := func(err error) bool { return err != nil && idrl.KindOf(err) == idrl.Internal }
	for _, test := range []struct {
		name string
		ctx  context.Context
		ars  solver.ARS
		task idrl.SolveTask
		is   func(error) bool
	}{
		{"cancelled", cancelled, solver.ARS{}, fit, func(err error) bool { return errors.Is(err, context.Canceled) }},
		{"discrete actions", t.Context(), solver.ARS{}, idrl.SolveTask{Env: chain([]float64{0, 1}), Theta: []float64{1}}, invalid},
		{"wrong weights", t.Context(), solver.ARS{}, idrl.SolveTask{Env: &glider{}, Theta: []float64{1}}, invalid},
		{"more top directions than directions", t.Context(), solver.ARS{Directions: 3, Top: 4}, fit, invalid},
		{"negative step", t.Context(), solver.ARS{StepSize: -1}, fit, invalid},
		{"NaN noise", t.Context(), solver.ARS{NoiseStd: math.NaN()}, fit, invalid},
		{"negative iterations", t.Context(), solver.ARS{Iterations: -1}, fit, invalid},
		{"negative bound", t.Context(), solver.ARS{MaxSteps: -1}, fit, invalid},
		{"short warm start", t.Context(), solver.ARS{}, idrl.SolveTask{Env: &glider{}, Theta: []float64{1, 0}, Warm: [][]float64{{1}}}, invalid},
		{"normalised warm start for raw search", t.Context(), solver.ARS{}, idrl.SolveTask{Env: &glider{}, Theta: []float64{1, 0}, Warm: [][]float64{slices.Repeat([]float64{1}, 12)}}, invalid},
		{"short second warm start beyond the bound", t.Context(), solver.ARS{MaxSteps: 1}, idrl.SolveTask{Env: &glider{}, Theta: []float64{1, 0}, Warm: [][]float64{make([]float64, 6), {1}}}, invalid},
		{"features that are no numbers", t.Context(), solver.ARS{}, idrl.SolveTask{Env: &diverging{phi: math.NaN()}, Theta: []float64{1, 0}}, internal},
		{"features whose squares overflow", t.Context(), solver.ARS{}, idrl.SolveTask{Env: &diverging{phi: 1e200}, Theta: []float64{1, 0}}, internal},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := test.ars.Solve(test.ctx, test.task, rng.New(1, "", 0)); !test.is(err) {
				t.Errorf("error = %v", err)
			}
		})
	}
}
