package report_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/lab/experiment/report"

	"github.com/google/go-cmp/cmp"
)

// In the first experiment uniform has 1.5 times the area, in the second half of
// it on every seed, whatever the seeds weigh: with equal weights the change is
// (0.5 − 0.5)/2, and no resample gives another.
func TestPool(t *testing.T) {
	chain := areasOf([]string{"idrl", "uniform"}, []float64{2, 4, 40}, []float64{3, 6, 60})
	junction := areasOf([]string{"uniform", "idrl"}, []float64{1, 3}, []float64{2, 6})
	junction.Experiment.Figure = "junction"
	solved := areasOf([]string{"idrl", "uniform"}, []float64{0, 0}, []float64{1, 2}) // nothing to compare with
	single := areasOf([]string{"idrl", "uniform"}, []float64{1}, []float64{9})
	other := areasOf([]string{"igr", "uniform"}, []float64{1, 2}, []float64{9, 9})
	got := report.Pool(slices.Concat(results(chain, junction, solved), results(single, other)), "idrl")
	want := []report.Pooled{{
		Method: "uniform", Reference: "idrl", Experiments: []string{"chain-state-corrected", "junction-state-corrected"},
	}}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-14 })
	if d := cmp.Diff(want, got, near); d != "" {
		t.Error(d)
	}
}

// With one experiment the interval is that of a ratio of means: seeds with the
// differences 1 and −1 on equal areas of 10 give changes from −0.1 to 0.1.
func TestPoolInterval(t *testing.T) {
	n := 40
	own, base := make([]float64, n), make([]float64, n)
	for i := range own {
		own[i], base[i] = 10+float64(1-2*(i%2)), 10
	}
	got := report.Pool(results(areasOf([]string{"idrl", "uniform"}, base, own)), "idrl")[0]
	want := 1.96 * 0.1 / math.Sqrt(float64(n)) // the standard error of a mean of ±0.1
	if got.Change != 0 || math.Abs(got.Boot[0]+want) > 0.2*want || math.Abs(got.Boot[1]-want) > 0.2*want {
		t.Errorf("%+v, want 0 within ∓%v", got, want) // sums move in steps of 2: changes in steps of 0.16 of want
	}
}
