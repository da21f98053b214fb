package solver_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/networks/networkstest"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/solver"
)

// What another program computes from the files of a linear policy is what this one
// computes, to 1e-6.
func TestPythonComputesTheSameActions(t *testing.T) {
	spec := idrl.EnvSpec{ID: "box", ObsDim: 3, Actions: idrl.ActionSpec{Low: []float64{-1, 0}, High: []float64{1, 3}}}
	p := must.Get(solver.NewLinear(spec, []float64{0.5, -2, 0.1, 1, 0.25, -1, 10, 200, -3, 2, 50, 0.5}))(t)
	var rows, want [][]float64
	stream, within := rng.New(1, "rows", 0), 0
	for range 100 {
		obs := []float64{10 + 3*stream.NormFloat64(), 200 + 50*stream.NormFloat64(), -3 + stream.NormFloat64()}
		rows, want = append(rows, obs), append(want, p.Act(make(idrl.Action, 2), obs, nil))
	}
	for i, got := range networkstest.Evaluate(t, networkstest.Save(t, p.Network()), rows) {
		for k, v := range want[i] {
			if math.Abs(got[k]-v) > 1e-6 {
				t.Errorf("row %d: action %v in Python, %v here", i, got, want[i])
			}
			if v > spec.Actions.Low[k] && v < spec.Actions.High[k] {
				within++
			}
		}
	}
	if within < 50 || within > 190 {
		t.Errorf("%d of 200 numbers lie within the bounds: too few or too many to tell", within)
	}
}
