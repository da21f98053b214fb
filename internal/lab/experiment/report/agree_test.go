package report_test

import (
	"math"
	"testing"

	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"
)

var chainAsInPaper = experiment.Config{
	Figure: "chain", Queries: experiment.States, Mode: experiment.Paper, Methods: []string{"idrl", "uniform"}, Seeds: 30, FirstSeed: 1,
}

// regretOf returns the agreement of the regret of one method.
func regretOf(t *testing.T, r experiment.Result, method string) report.Agreement {
	t.Helper()
	for _, a := range report.Agree(r) {
		if a.Measure == "regret" && a.Method == method {
			return a
		}
	}
	t.Fatalf("no agreement of %s", method)
	return report.Agreement{}
}

func TestAgree(t *testing.T) {
	same := func(int, float64) float64 { return 0 }
	for _, test := range []struct {
		name   string
		shift  func(queries int, se float64) float64
		inside func(se float64) bool
	}{
		{"the same", same, func(float64) bool { return true }},
		// 2 √(se² + se²) is 2.828 se.
		{"just inside", func(_ int, se float64) float64 { return 2.82 * se }, func(float64) bool { return true }},
		{"just outside", func(_ int, se float64) float64 { return -2.84 * se }, func(se float64) bool { return se == 0 }},
		{"as exact as the numbers", func(int, float64) float64 { return 9e-7 }, func(float64) bool { return true }},
		{"off where nothing varies", func(int, float64) float64 { return 1.1e-6 }, func(se float64) bool { return se > 0 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := regretOf(t, asTheirs(t, chainAsInPaper, test.shift), "idrl")
			share := 0.0
			for i, p := range a.Points {
				if p.Queries != i+1 || math.Abs(p.Ours.SE-p.Theirs.SE) > 1e-9 || math.Abs(p.Diff-test.shift(p.Queries, p.Theirs.SE)) > 1e-9 {
					t.Errorf("%+v, want the difference %v", p, test.shift(p.Queries, p.Theirs.SE))
				}
				want := test.inside(p.Theirs.SE)
				if p.Inside != want {
					t.Errorf("%+v, want inside %v", p, want)
				}
				if want {
					share += 1.0 / 50
				}
			}
			if len(a.Points) != 50 || math.Abs(a.Inside-share) > 1e-12 || a.Seeds != 30 || a.Theirs != 30 {
				t.Errorf("%d points of %d and %d seeds, %v inside, want %v", len(a.Points), a.Seeds, a.Theirs, a.Inside, share)
			}
		})
	}
}

// The regret of all methods comes first, then what goes with it; methods without
// a curve are left out.
func TestAgreeMeasures(t *testing.T) {
	driver := experiment.Config{
		Figure: "driver", Mode: experiment.Paper, Methods: []string{"idrl", "uniform", "igr"}, Seeds: 30, FirstSeed: 1, Answers: 20,
	}
	for _, test := range []struct {
		c    experiment.Config
		want [][2]string
	}{
		{chainAsInPaper, [][2]string{{"idrl", "regret"}, {"uniform", "regret"}, {"idrl", "mse"}, {"uniform", "mse"}}},
		{driver, [][2]string{{"uniform", "regret"}, {"igr", "regret"}, {"uniform", "cosine"}, {"igr", "cosine"}}},
	} {
		var got [][2]string
		for _, a := range report.Agree(synthetic(t, test.c, 0)) {
			got = append(got, [2]string{a.Method, a.Measure})
			if want := validated(t, test.c).Answers; len(a.Points) != want {
				t.Errorf("%s: %d points, want %d", a.Method, len(a.Points), want)
			}
		}
		if len(got) != len(test.want) {
			t.Fatalf("%s: %v, want %v", test.c.Figure, got, test.want)
		}
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("%s: %v, want %v", test.c.Figure, got, test.want)
			}
		}
	}
}

// The authors' curve of EPD in Driver is of 20 seeds and 60 queries: of ours,
// the same 20 count.
func TestAgreeUsesTheSameSeeds(t *testing.T) {
	c := experiment.Config{Figure: "driver", Mode: experiment.Paper, Methods: []string{"epd"}, Seeds: 30, FirstSeed: 1}
	r := asTheirs(t, c, func(int, float64) float64 { return 0 })
	for i := range r.Runs[20:] {
		for n := range r.Runs[20+i][0].Regret {
			r.Runs[20+i][0].Regret[n] = 1e6
		}
	}
	if a := regretOf(t, r, "epd"); a.Inside != 1 || a.Seeds != 20 || a.Theirs != 20 || len(a.Points) != 60 {
		t.Errorf("%d points of %d seeds, %v inside", len(a.Points), a.Seeds, a.Inside)
	}
}

func TestAgreeOnlyWithWhatTheCodeDoes(t *testing.T) {
	for _, change := range []func(c *experiment.Config){
		func(c *experiment.Config) { c.Mode = experiment.Corrected },
		func(c *experiment.Config) { c.Candidates = experiment.Text },
		func(c *experiment.Config) { c.Walls = experiment.Text },
		func(c *experiment.Config) { c.Queries = experiment.Comparisons }, // there is no curve
	} {
		c := chainAsInPaper
		change(&c)
		if got := report.Agree(synthetic(t, c, 0)); got != nil {
			t.Errorf("%+v: %d agreements", c, len(got))
		}
	}
}
