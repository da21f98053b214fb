package solver_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/solver"

	"gonum.org/v1/gonum/floats"
)

func TestLinear(t *testing.T) {
	spec := (&glider{}).Spec() // two actions in ±0.5 and ±0.4, three observations
	w := []float64{0.1, 0.2, -0.1, 10, 0, 0}
	for _, test := range []struct {
		name        string
		scales, obs []float64
		want        []float64
	}{
		{"inside and above the bounds", nil, []float64{1, 2, 3}, []float64{0.2, 0.4}},
		{"below the bounds", nil, []float64{-5, -3, 0}, []float64{-0.5, -0.4}},
		{"at the mean", []float64{1, 2, 3, 9, 9, 9}, []float64{1, 2, 3}, []float64{0, 0}},
		{"scaled", []float64{1, 1, 1, 2, 4, 0.5}, []float64{1.06, 3, 0}, []float64{0.003 + 0.1 + 0.2, 0.3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			params := slices.Concat(w, test.scales)
			p, err := solver.NewLinear(spec, params)
			if err != nil {
				t.Fatal(err)
			}
			got := p.Act(make(idrl.Action, 2), test.obs, nil)
			if !floats.EqualApprox(got, test.want, 1e-12) || !spec.Actions.Contains(got) {
				t.Errorf("action = %v, want %v", got, test.want)
			}
			if !slices.Equal(p.Params(), params) {
				t.Errorf("parameters = %v, want %v", p.Params(), params)
			}
		})
	}
}

func TestNewLinearRefuses(t *testing.T) {
	spec := (&glider{}).Spec()
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	with := func(i int, v float64) []float64 { p := ones(12); p[i] = v; return p }
	for _, test := range []struct {
		name   string
		spec   idrl.EnvSpec
		params []float64
	}{
		{"too few", spec, ones(5)},
		{"means without deviations", spec, ones(9)},
		{"NaN", spec, with(0, math.NaN())},
		{"infinite mean", spec, with(7, math.Inf(1))},
		{"deviation 0", spec, with(9, 0)},
		{"negative deviation", spec, with(11, -1)},
		{"discrete actions", chain([]float64{0, 1}).Spec(), ones(1)},
	} {
		if _, err := solver.NewLinear(test.spec, test.params); err == nil || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error = %v, want one of kind Invalid", test.name, err)
		}
	}
}

// hierarchy is vector "hierarchical_mix" of the authors' code.
type hierarchy struct {
	Inputs struct {
		U       []float64     `json:"high_level_action"`
		W       [][][]float64 `json:"policies_w"`
		Obs     []float64     `json:"obs"`
		ObsMean []float64     `json:"obs_mean"`
		ObsStd  []float64     `json:"obs_std"`
		Low     float64       `json:"low"`
		High    float64       `json:"high"`
	} `json:"inputs"`
	Outputs struct {
		Action []float64 `json:"low_level_action"`
	} `json:"outputs"`
}

func (v *hierarchy) mixture(t *testing.T) *solver.Mixture {
	t.Helper()
	low, high := slices.Repeat([]float64{v.Inputs.Low}, 2), slices.Repeat([]float64{v.Inputs.High}, 2)
	spec := idrl.EnvSpec{ID: "ant", Actions: idrl.ActionSpec{Low: low, High: high}, ObsDim: len(v.Inputs.Obs)}
	var parts []*solver.Linear
	for _, w := range v.Inputs.W {
		p, err := solver.NewLinear(spec, slices.Concat(flatten(w), v.Inputs.ObsMean, v.Inputs.ObsStd))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	return solver.NewMixture(parts...)
}

func TestMixtureMatchesAuthorsCode(t *testing.T) {
	var v hierarchy
	load(t, "hierarchical_mix", &v)
	m := v.mixture(t)
	got := m.Act(make([]float64, 2), v.Inputs.U, v.Inputs.Obs)
	if !floats.EqualApprox(got, v.Outputs.Action, vectorTol) {
		t.Errorf("action = %v, want %v", got, v.Outputs.Action)
	}
}

func TestMixture(t *testing.T) {
	var v hierarchy
	load(t, "hierarchical_mix", &v)
	m := v.mixture(t)
	dst := make([]float64, 2)
	if got := m.Act(dst, []float64{0, 0, 0, 0, 1e6}, v.Inputs.Obs); !floats.EqualApprox(got, []float64{0, 0}, 0) {
		t.Errorf("doing nothing gives %v", got)
	}
	shifted := slices.Clone(v.Inputs.U)
	floats.AddConst(900, shifted) // softmax does not see it, and it must not overflow
	if got := m.Act(dst, shifted, v.Inputs.Obs); !floats.EqualApprox(got, v.Outputs.Action, 1e-9) {
		t.Errorf("after a shift: action = %v, want %v", got, v.Outputs.Action)
	}
	if n := testing.AllocsPerRun(50, func() { m.Act(dst, v.Inputs.U, v.Inputs.Obs) }); n != 0 {
		t.Errorf("Act allocates %v times", n)
	}
}

func TestMixturePanics(t *testing.T) {
	var v hierarchy
	load(t, "hierarchical_mix", &v)
	m := v.mixture(t)
	other, err := solver.NewLinear((&glider{}).Spec(), make([]float64, 6))
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := solver.NewLinear(idrl.EnvSpec{Actions: idrl.ActionSpec{Low: []float64{0}, High: []float64{1}}, ObsDim: 3}, make([]float64, 3))
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(){
		"no parts":           func() { solver.NewMixture() },
		"parts of two kinds": func() { solver.NewMixture(other, narrow) },
		"short u":            func() { m.Act(make([]float64, 2), make([]float64, 4), v.Inputs.Obs) },
		"long destination":   func() { m.Act(make([]float64, 3), make([]float64, 5), v.Inputs.Obs) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
