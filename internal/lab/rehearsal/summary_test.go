package rehearsal

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// shown returns a comparison with what the page says.
func shown(given int, regret, mean, bound, within float64) Comparison {
	return Comparison{Given: given, Recommended: "p", Regret: regret, Shown: idrl.Regret{Tolerance: 0.05, Mean: mean, Bound: bound, Within: within}}
}

// Two runs, by hand.
func twoRuns() []Run {
	return []Run{
		{Seed: 1, Rows: []Comparison{shown(5, 0.3, 0.2, 0.4, 0.1), shown(10, 0.05, 0.1, 0.2, 0.5), shown(12, 0, 0, 0, 1)}},
		{Seed: 2, Rows: []Comparison{shown(5, 0.1, 0.3, 0.4, 0.19), shown(10, 0.15, 0.1, 0.1, 0.9), shown(12, 0.15, 0, 0.1, 0.8)}},
	}
}

func TestFigures(t *testing.T) {
	figures := Figures(twoRuns())
	for _, test := range []struct {
		measure, at string
		value       float64
		n           int
	}{
		{"true_regret", "5", 0.2, 2},
		{"true_regret", "10", 0.1, 2},
		{"true_regret", "12", 0.075, 2},
		{"true_regret", "all", 0.125, 6},
		{"true_over_shown", "5", 0.8, 2},
		{"true_over_shown", "12", math.Inf(1), 2},
		{"covered", "5", 1, 2},
		{"covered", "10", 0.5, 2},
		{"covered", "all", 4.0 / 6, 6},
		{"within", "all", 2.0 / 6, 6},
		{"said", "0–20 %", 0.145, 2},
		{"was", "0–20 %", 0, 2},
		{"said", "40–60 %", 0.5, 1},
		{"was", "40–60 %", 1, 1},
		{"said", "80–100 %", 0.9, 3}, // 0.8 and 1 are in the last bin
		{"was", "80–100 %", 1.0 / 3, 3},
		{"said", "20–40 %", math.NaN(), 0},
		{"answers_to_tenth", "all", math.Inf(1), 2}, // 10 and never
		{"reached_tenth", "all", 0.5, 2},
	} {
		i := slices.IndexFunc(figures, func(f Figure) bool { return f.Measure == test.measure && f.At == test.at })
		if i < 0 {
			t.Errorf("no %s at %s", test.measure, test.at)
			continue
		}
		f := figures[i]
		same := f.Value == test.value || math.IsNaN(f.Value) && math.IsNaN(test.value) || math.Abs(f.Value-test.value) < 1e-12
		if !same || f.N != test.n {
			t.Errorf("%s at %s: %v of %d, want %v of %d", test.measure, test.at, f.Value, f.N, test.value, test.n)
		}
		if !math.IsNaN(f.Value) && !(f.Low <= f.Value && f.Value <= f.High) {
			t.Errorf("%s at %s: %v is not in [%v, %v]", test.measure, test.at, f.Value, f.Low, f.High)
		}
	}
}

func TestAnswersToTenth(t *testing.T) {
	for _, test := range []struct {
		regrets []float64
		answers int
		reached bool
	}{
		{[]float64{0.5, 0.1, 0.05}, 2, true},
		{[]float64{0.05, 0.5, 0.05}, 3, true}, // it must stay there
		{[]float64{0.05, 0.5}, 0, false},
		{[]float64{0, 0}, 1, true},
	} {
		if n, ok := aRun(1, test.regrets...).answersToTenth(); n != test.answers || ok != test.reached {
			t.Errorf("%v: %d, %t; want %d, %t", test.regrets, n, ok, test.answers, test.reached)
		}
	}
}

// Of runs that were compared once, at their end, it is not known when the regret became small.
func TestComparedOnce(t *testing.T) {
	runs := []Run{{Seed: 1, Rows: []Comparison{{Given: 60, Regret: 0.05}}}, {Seed: 2, Rows: []Comparison{{Given: 60, Regret: 0.2}}}}
	var out strings.Builder
	must.Do(t, PrintSummary(&out, runs, Figures(runs)))
	if said := out.String(); !strings.Contains(said, "not known: compared only at the end") || !strings.Contains(said, "Runs where it is so then: 50 %") {
		t.Error(said)
	}
	runs[0].Rows = []Comparison{{Given: 10, Regret: 0.4}, {Given: 20, Regret: 0.05}, {Given: 60, Regret: 0.05}}
	runs[1].Rows = runs[0].Rows
	out.Reset()
	must.Do(t, PrintSummary(&out, runs, Figures(runs)))
	if said := out.String(); !strings.Contains(said, "median: 20 [20, 20] (compared every 40 answers)") {
		t.Error(said)
	}
}

// The milestones are those that every run has.
func TestMilestones(t *testing.T) {
	short := Run{Rows: []Comparison{{Given: 5}, {Given: 10}, {Given: 11}}}
	if got := milestones(twoRuns()); !slices.Equal(got, []int{5, 10, 12}) {
		t.Errorf("milestones %v, want 5, 10 and 12", got)
	}
	if got := milestones(append(twoRuns(), short)); !slices.Equal(got, []int{5, 10}) {
		t.Errorf("milestones %v with a run that ends earlier, want 5 and 10", got)
	}
	if got := milestones([]Run{short, {Rows: []Comparison{{Given: 3}}}}); len(got) != 0 {
		t.Errorf("milestones %v of runs that share none", got)
	}
}

// The interval of a mean of n zeros and ones with share p is near p ± 1.96·√(p(1−p)/n).
func TestBootstrap(t *testing.T) {
	const n = 400
	value, low, high := bootstrap(n, rng.New(1, "test", 0), func(of []int) float64 {
		sum := 0.0
		for _, i := range of {
			sum += one(i < n/4)
		}
		return sum / n
	})
	half := 1.96 * math.Sqrt(0.25*0.75/n)
	if value != 0.25 || !(math.Abs(low-(0.25-half)) < 0.006) || !(math.Abs(high-(0.25+half)) < 0.006) {
		t.Errorf("%v [%v, %v], want 0.25 ± %v", value, low, high, half)
	}
	if v, low, _ := bootstrap(3, rng.New(1, "test", 0), func([]int) float64 { return math.NaN() }); !math.IsNaN(v) || !math.IsNaN(low) {
		t.Errorf("a statistic that is never a number is %v from %v", v, low)
	}
}

func TestSummaryForPeople(t *testing.T) {
	var out strings.Builder
	runs := twoRuns()
	must.Do(t, PrintSummary(&out, runs, Figures(runs)))
	for _, says := range []string{
		"2 runs (seeds 1 to 2), 6 comparisons", "against the best policy that the session knows", "after answer", "20 % [10, 30]", "0–20 %", "33.3 %",
		"median: more than were given [10, more than were given] (compared every 5 answers). Runs that get there: 50 % [0, 100].",
	} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("no %q in:\n%s", says, out.String())
		}
	}
	if strings.Contains(out.String(), "20–40 %") || strings.Contains(out.String(), "NaN") {
		t.Errorf("it tells of bins without comparisons:\n%s", out.String())
	}
	file := filepath.Join(t.TempDir(), "x.csv")
	must.Do(t, WriteSummary(file, Figures(runs)))
	b, err := os.ReadFile(filepath.Join(filepath.Dir(file), "x-summary.csv"))
	if err != nil || !strings.HasPrefix(string(b), "measure,at,value,low,high,n\ntrue_regret,5,0.2,0.1,0.3,2\n") {
		t.Errorf("the summary begins with %.80q, %v", b, err)
	}
}
