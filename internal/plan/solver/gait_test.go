package solver_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// walkerSpec is an environment of two actuators, one with bounds that are not around 0,
// and three observations, 0.05 s a step.
func walkerSpec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "walker", ObsDim: 3, StepSeconds: 0.05,
		Actions: idrl.ActionSpec{Low: []float64{-2, 1}, High: []float64{2, 4}},
	}
}

func newGait(t *testing.T, spec idrl.EnvSpec, params []float64) *solver.Gait {
	t.Helper()
	g := must.Get(solver.NewGait(spec, params))(t)
	return g
}

// TestGait holds actions to the formula. A quarter of a period of 1 Hz is 5 steps.
func TestGait(t *testing.T) {
	oscillator := []float64{0, 0.1, 0.5, -0.25, 0.2, 0, 3}
	feedback := slices.Concat([]float64{0, 2}, []float64{0.1, -0.2, 1, 0}, []float64{1, -1}, []float64{0.5, 2})
	obs := []float64{2, 99, 3}
	for _, test := range []struct {
		name   string
		params []float64
		t      int
		want   []float64
	}{
		{"at first", oscillator, 0, []float64{2 * (0.1 - 0.25), 4}},           // the second is clipped: 2.5 + 1.5·3.2
		{"after a quarter", oscillator, 5, []float64{2 * 0.6, 2.5 + 1.5*0.2}}, // the sine is 1
		{"after half a period", oscillator, 10, []float64{2 * (0.1 + 0.25), 1}},
		{"after a period", oscillator, 20, []float64{2 * (0.1 - 0.25), 4}},
		// the observations are 2 and 2 standard deviations above their means
		{"with feedback", slices.Concat(oscillator, feedback), 5, []float64{2 * (0.6 + 0.2 - 0.4), 2.5 + 1.5*1}},
		{"at most half a cycle a step", slices.Concat([]float64{50}, oscillator[1:]), 1, []float64{2 * (0.1 + 0.25), 1}},
	} {
		g := newGait(t, walkerSpec(), test.params)
		got := g.ActAt(make(idrl.Action, 2), obs, test.t, nil)
		if !floats.EqualApprox(got, test.want, 1e-12) {
			t.Errorf("%s: action = %v, want %v", test.name, got, test.want)
		}
		if !walkerSpec().Actions.Contains(got) {
			t.Errorf("%s: %v is no action", test.name, got)
		}
		if !slices.Equal(g.Params(), test.params) || !slices.Equal(g.Open(), test.params[:7]) {
			t.Errorf("%s: parameters = %v and %v without feedback", test.name, g.Params(), g.Open())
		}
		if first := g.Act(make(idrl.Action, 2), obs, nil); !slices.Equal(first, g.ActAt(make(idrl.Action, 2), obs, 0, nil)) {
			t.Errorf("%s: Act = %v", test.name, first)
		}
	}
	if f := newGait(t, walkerSpec(), slices.Concat([]float64{math.Log(3)}, oscillator[1:])).Hertz(walkerSpec()); math.Abs(f-3) > 1e-12 {
		t.Errorf("frequency %v Hz, want 3", f)
	}
}

func TestGaitRefusals(t *testing.T) {
	spec := walkerSpec()
	good := []float64{0, 0, 0, 0, 0, 0, 0}
	with := func(used, k, mean, std float64) []float64 {
		return slices.Concat(good, []float64{used, k, k, mean, std})
	}
	must.Get(solver.NewGait(spec, with(1, 2, 3, 4)))(t)
	discrete, unbounded, none := spec, spec, spec
	discrete.Actions = idrl.ActionSpec{Num: 3}
	unbounded.Actions = idrl.ActionSpec{Low: []float64{-1, math.Inf(-1)}, High: []float64{1, 1}}
	none.Actions = idrl.ActionSpec{}
	for name, test := range map[string]struct {
		spec   idrl.EnvSpec
		params []float64
	}{
		"no numbers":                       {spec, nil},
		"too few":                          {spec, good[:6]},
		"too many":                         {spec, append(slices.Clone(good), 1)},
		"NaN":                              {spec, append(slices.Clone(good[:6]), math.NaN())},
		"infinite":                         {spec, append(slices.Clone(good[:6]), math.Inf(1))},
		"beyond the bounds":                {spec, append(slices.Clone(good[:6]), 2e6)},
		"no such observation":              {spec, with(3, 1, 0, 1)},
		"negative observation":             {spec, with(-1, 1, 0, 1)},
		"half an observation":              {spec, with(0.5, 1, 0, 1)},
		"standard deviation 0":             {spec, with(0, 1, 0, 0)},
		"negative standard deviation":      {spec, with(0, 1, 0, -1)},
		"an observation twice":             {spec, slices.Concat(good, []float64{1, 1}, make([]float64, 6), []float64{1, 1})},
		"discrete actions":                 {discrete, good},
		"actions without bounds":           {unbounded, good},
		"an environment without actuators": {none, good[:1]},
	} {
		if g, err := solver.NewGait(test.spec, test.params); err == nil || g != nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want one of kind Invalid", name, err)
		}
	}
	for name, spec := range map[string]idrl.EnvSpec{"discrete": discrete, "unbounded": unbounded, "no actuators": none} {
		if _, err := solver.RandomGait(spec, rng.New(1, "", 0)); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want one of kind Invalid", name, err)
		}
	}
}

// TestRandomGaits: frequencies and sizes are spread as the comment says. The logarithm of
// the size is uniform over ln 10, so that s² has the mean 0.08²·99/(2 ln 10).
func TestRandomGaits(t *testing.T) {
	const n = 4000
	spec := walkerSpec()
	spec.Gait.Hertz = 0.5
	stream := rng.New(1, "gaits", 0)
	hertz, squares, biases := make([]float64, n), make([]float64, n), make([]float64, n)
	for k := range n {
		p := must.Get(solver.RandomGait(spec, stream))(t)
		hertz[k], squares[k], biases[k] = p[0], p[2]*p[2], p[1]*p[1]
		newGait(t, spec, p)
	}
	mean, std := stat.MeanStdDev(hertz, nil)
	if math.Abs(mean-math.Log(0.5)) > 4*0.5/math.Sqrt(n) || math.Abs(std/0.5-1) > 4/math.Sqrt(2*n) {
		t.Errorf("log f has mean %v and standard deviation %v", mean, std)
	}
	want := 0.08 * 0.08 * 99 / (2 * math.Ln10)
	mean, std = stat.MeanStdDev(squares, nil)
	if math.Abs(mean-want) > 4*std/math.Sqrt(n) {
		t.Errorf("mean square of s = %v, want %v", mean, want)
	}
	if bias := stat.Mean(biases, nil); !(bias < mean) {
		t.Errorf("mean square of b = %v, want less than that of s, %v", bias, mean)
	}
	spec.Gait.Hertz = 0
	p, err := solver.RandomGait(spec, rng.New(1, "gaits", 0))
	if err != nil || math.Abs(p[0]-hertz[0]-math.Log(4)) > 1e-12 {
		t.Errorf("without a middle frequency log f = %v, want that of 2 Hz; error %v", p[0], err)
	}
}

func TestMutate(t *testing.T) {
	spec := walkerSpec()
	parent := slices.Concat(make([]float64, 7), []float64{1, 2, 3, 4, 5})
	child := solver.Mutate(spec, parent, rng.New(1, "child", 0))
	if !slices.Equal(child[7:], parent[7:]) {
		t.Errorf("feedback changed: %v", child[7:])
	}
	for i, v := range child[:7] {
		if v == parent[i] || math.Abs(v) > 1 {
			t.Errorf("number %d = %v, want noise of standard deviation 0.2", i, v)
		}
	}
}
