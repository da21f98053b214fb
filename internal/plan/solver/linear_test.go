package solver_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"

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
			p := must.Get(solver.NewLinear(spec, params))(t)
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
