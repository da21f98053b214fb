package report_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"
)

// Uniform less IDRL: 1, 2, 3, 0, with mean 1.5, standard deviation √(5/3) and
// standard error 0.645497. Signed ranks, the zero being the first: 2 + 3 + 4.
func TestDifferences(t *testing.T) {
	r := areasOf([]string{"uniform", "idrl"}, []float64{2, 4, 6, 4}, []float64{1, 2, 3, 4})
	got := report.Differences(r, "idrl")
	if len(got) != 1 || got[0].Method != "uniform" || got[0].Reference != "idrl" || got[0].Seeds != 4 {
		t.Fatalf("%+v, want uniform against idrl on 4 seeds", got)
	}
	d := got[0]
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"mean", d.Diff.Mean, 1.5},
		{"standard error", d.Diff.SE, 0.6454972},
		{"area", d.Area.Mean, 4},
		{"area of the reference", d.ReferenceArea.Mean, 2.5},
		{"relative", *d.Relative, 0.6},
		{"W", d.Wilcoxon.W, 9},
		{"P", d.Wilcoxon.P, 0.25},
		{"adjusted", d.HolmP, 0.25},
		{"improvement: one tie of four", d.Improvement, 0.125},
	} {
		if math.Abs(test.got-test.want) > 1e-7 {
			t.Errorf("%s = %v, want %v", test.name, test.got, test.want)
		}
	}
	if !(d.Boot[0] >= 0 && d.Boot[0] < 1 && d.Boot[1] > 2 && d.Boot[1] <= 3) {
		t.Errorf("bootstrap interval = %v", d.Boot)
	}
}

// Areas that are equal but for the order of a sum are ties.
func TestDifferencesIgnoreRounding(t *testing.T) {
	r := areasOf([]string{"idrl", "uniform"}, []float64{0.1 + 0.2 + 0.3, 1, 2}, []float64{0.1 + (0.2 + 0.3), 1, 2})
	d := report.Differences(r, "idrl")[0]
	if d.Wilcoxon.Zeros != 3 || d.Wilcoxon.P != 1 || d.Improvement != 0.5 {
		t.Errorf("%+v, want three zeros", d)
	}
}

func TestDifferencesAreAdjusted(t *testing.T) {
	base := []float64{10, 10, 10, 10, 10, 10}
	r := areasOf([]string{"a", "idrl", "b", "c"}, []float64{1, 2, 3, 4, 5, 6}, base, []float64{11, 12, 13, 14, 15, 16}, []float64{9, 11, 10, 10, 10, 10})
	var p, holm []float64
	for _, d := range report.Differences(r, "idrl") {
		p, holm = append(p, d.Wilcoxon.P), append(holm, d.HolmP)
	}
	if !slices.Equal(p, []float64{2.0 / 64, 2.0 / 64, 1}) || !slices.Equal(holm, []float64{6.0 / 64, 6.0 / 64, 1}) {
		t.Errorf("P %v, adjusted %v", p, holm)
	}
}

func TestNoDifferences(t *testing.T) {
	one := areasOf([]string{"idrl", "uniform"}, []float64{1}, []float64{2})
	if got := report.Differences(one, "idrl"); got != nil {
		t.Errorf("one seed has no interval, got %v", got)
	}
	two := areasOf([]string{"igr", "uniform"}, []float64{1, 2}, []float64{2, 3})
	if got := report.Differences(two, "idrl"); got != nil {
		t.Errorf("without the reference: %v", got)
	}
	perfect := areasOf([]string{"idrl", "uniform"}, []float64{0, 0}, []float64{2, 3})
	if got := report.Differences(perfect, "idrl"); got[0].Relative != nil {
		t.Errorf("relative to nothing: %v", *got[0].Relative)
	}
}

func TestReference(t *testing.T) {
	for _, test := range []struct {
		methods []string
		want    string
	}{{[]string{"uniform", "idrl"}, "idrl"}, {[]string{"uniform", "igr"}, "uniform"}} {
		if got := report.Reference(experiment.Experiment{Config: experiment.Config{Methods: test.methods}}); got != test.want {
			t.Errorf("reference of %v = %s, want %s", test.methods, got, test.want)
		}
	}
}

// The first regret is 8: 0.8 and less counts. Of three runs one does not get
// there and counts as its single answer.
func TestReachedTenth(t *testing.T) {
	got := report.ReachedTenth(areasOf([]string{"idrl"}, []float64{0.8, 0.9, 0}))
	want := report.Reached{Method: "idrl", Answers: report.Mean{Mean: 1}, Median: 1, Censored: 1.0 / 3}
	if len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
