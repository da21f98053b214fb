package report_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"

	"github.com/google/go-cmp/cmp"
)

func corridorResult(t *testing.T, figure string, answers int) experiment.Result {
	t.Helper()
	return synthetic(t, experiment.Config{Figure: figure, Seeds: 4, FirstSeed: 3, Answers: answers, Measure: 3}, 1)
}

// lasts returns the regrets after the last answer by seed.
func lasts(r experiment.Result, m int) (out []float64) {
	for _, runs := range r.Runs {
		out = append(out, runs[m].Regret[len(runs[m].Regret)-1])
	}
	return out
}

func TestFinals(t *testing.T) {
	r := corridorResult(t, "ant-corridor", 20)
	finals := report.Finals(r)
	if len(finals) != 7 {
		t.Fatalf("%d methods, want 7", len(finals))
	}
	for m, f := range finals {
		v := lasts(r, m)
		want := report.Final{
			Method: r.Experiment.Methods[m], Seeds: 4, Regret: report.MeanOf(v),
			Boot: report.Bootstrap(v, rng.New(3, "bootstrap", 4)), Paper: f.Paper,
		}
		if d := cmp.Diff(want, f); d != "" {
			t.Errorf("%s:\n%s", f.Method, d)
		}
		if f.Paper == nil || !(f.Boot[0] <= f.Regret.Mean && f.Regret.Mean <= f.Boot[1]) {
			t.Errorf("%s: paper %v, interval %v around %v", f.Method, f.Paper, f.Boot, f.Regret.Mean)
		}
	}
	if p := finals[3].Paper; *p != (report.Mean{Mean: 2.2, SE: 0.8}) {
		t.Errorf("the paper's IDRL with 20 updates: %v", *p)
	}
	for _, f := range report.Finals(corridorResult(t, "swimmer-corridor", 10)) {
		if f.Paper != nil {
			t.Errorf("%s: the paper's regret after 20 answers beside one after 10", f.Method)
		}
	}
}

// Where a run is measured after every third answer, what is written says after
// how many answers each number was.
func TestWriteMeasuredSeldom(t *testing.T) {
	r := corridorResult(t, "swimmer-corridor", 20)
	files := written(t, r)
	const dir = "swimmer-corridor-clip-corrected/"
	counts := []string{"0", "3", "6", "9", "12", "15", "18", "20"}
	for name, want := range map[string]struct{ perMethod, column, mean int }{
		"runs.csv": {4 * len(counts), 8, 9}, "summary.csv": {len(counts), 5, 6},
	} {
		all := rows(t, files[dir+name])
		if len(all) != 1+7*want.perMethod {
			t.Errorf("%s has %d rows", name, len(all))
			continue
		}
		var got []string
		for _, row := range all[1 : 1+len(counts)] {
			got = append(got, row[want.column])
		}
		if !slices.Equal(got, counts) {
			t.Errorf("%s: after %q answers, want %q", name, got, counts)
		}
	}
	final := rows(t, files[dir+"final.csv"])
	if d := cmp.Diff([]string{"swimmer-corridor", "corrected", "igr", "4", "20"}, final[2][:5]); len(final) != 8 || d != "" || !slices.Equal(final[2][9:], []string{"13.3", "0.6"}) {
		t.Errorf("%d rows of the last regrets, IGR's %q", len(final), final[2])
	}
	timing := rows(t, files[dir+"timing.csv"])
	if !slices.Equal(timing[0][5:], []string{"wall_s_mean", "wall_s_se", "wall_s_max", "steps_mean"}) || timing[2][8] != "2000000" {
		t.Errorf("times %q", timing)
	}
	if !strings.Contains(string(files[dir+"stats.json"]), `"measure": 3`) {
		t.Error("stats.json does not say how often was measured")
	}
	if _, ok := files[dir+"cosine.svg"]; !ok {
		t.Error("no plot of the cosine")
	}
}

// The points of a curve are where they were measured: four fifths of the way
// along the axis after four of five answers.
func TestPlotMeasuredSeldom(t *testing.T) {
	r := areasOf([]string{"idrl"}, []float64{1, 2})
	r.Experiment.Answers, r.Experiment.Measure = 5, 4
	for i := range r.Runs {
		r.Runs[i][0].Regret = []float64{8, 4, 2}
	}
	svg, err := report.Plot(r, "regret", "svg")
	if err != nil {
		t.Fatal(err)
	}
	path := regexp.MustCompile(`<path d="M([0-9.]+),[0-9.]+L([0-9.]+),[0-9.]+L([0-9.]+),[0-9.]+" style="[^"]*stroke-width:1.6`).FindSubmatch(svg)
	if path == nil {
		t.Fatal("no curve of three points")
	}
	var x [3]float64
	for i := range x {
		if x[i], err = strconv.ParseFloat(string(path[i+1]), 64); err != nil {
			t.Fatal(err)
		}
	}
	if got := (x[1] - x[0]) / (x[2] - x[0]); math.Abs(got-0.8) > 1e-3 { // numbers of the file have four digits
		t.Errorf("points at %v: the middle one is at %v of the way, want 0.8", x, got)
	}
}

func TestStoreMeasuredSeldom(t *testing.T) {
	dir := t.TempDir()
	var warnings []string
	store := report.FolderStore(dir, func(s string) { warnings = append(warnings, s) })
	config := func(measure int) experiment.Experiment {
		return validated(t, experiment.Config{Figure: "chain", Methods: []string{"idrl"}, Seeds: 1, Answers: 4, Measure: measure})
	}
	run := experiment.Run{Regret: []float64{1, 2, 3}, MSE: []float64{1, 2, 3}, Cosine: []float64{1, 2, 3}, Steps: 5, WallNS: 6}
	must.Do(t, store.Save(config(2), "idrl", 1, run))
	got, ok := store.Load(config(2), "idrl", 1)
	if d := cmp.Diff(run, got); !ok || d != "" {
		t.Errorf("loaded %v:\n%s", ok, d)
	}
	if _, ok := store.Load(config(1), "idrl", 1); ok || len(warnings) != 1 || !strings.Contains(warnings[0], "other settings") {
		t.Errorf("used for a run that is measured more often; warnings %q", warnings)
	}
}

// A run that was kept before there was a choice of when to measure is that of an
// experiment that measures after every answer.
func TestFingerprintOfOldRuns(t *testing.T) {
	e := validated(t, experiment.Config{Figure: "chain", Methods: []string{"idrl"}, Seeds: 1, Answers: 1})
	old := e
	old.Measure = 0
	store := report.FolderStore(t.TempDir(), nil)
	run := experiment.Run{Regret: []float64{1, 2}, MSE: []float64{1, 2}, Cosine: []float64{1, 2}}
	must.Do(t, store.Save(old, "idrl", 1, run))
	if _, ok := store.Load(e, "idrl", 1); !ok || e.Measure != 1 {
		t.Errorf("found %v, measure %d", ok, e.Measure)
	}
}

// Against the authors' curves only what was measured is compared.
func TestAgreeMeasuredSeldom(t *testing.T) {
	c := chainAsInPaper
	c.Answers, c.Measure = 20, 8
	r := asTheirs(t, c, func(int, float64) float64 { return 0 })
	a := regretOf(t, r, "idrl")
	var got []int
	for _, p := range a.Points {
		got = append(got, p.Queries)
	}
	if !slices.Equal(got, []int{8, 16, 20}) || a.Inside != 1 {
		t.Errorf("compared after %v answers, %v inside; want 8, 16, 20 and all", got, a.Inside)
	}
	reached := report.ReachedTenth(r)
	for _, v := range reached {
		if n := v.Median; !slices.Contains([]float64{0, 8, 16, 20, 12, 18, 4, 10, 14}, n) {
			t.Errorf("%s: reached after %v answers, which are between no two counts", v.Method, n)
		}
	}
	_, root := page(t, "", r)
	said := text(root)
	for _, want := range []string{"20, measured after every 8", "3\u00a0of\u00a03", "Δ 20"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// The page has the paper's table, over both corridors, and the cost of runs apart.
func TestPageOfCorridors(t *testing.T) {
	swimmer, ant := corridorResult(t, "swimmer-corridor", 20), corridorResult(t, "ant-corridor", 20)
	html, root := page(t, "", swimmer, ant)
	said := text(root)
	for _, want := range []string{
		"Mean regret ± standard error after the last answer, and the paper's",
		"Swimmer-Corridor, ratings of clips, 20 answers, 4 seeds", "Ant-Corridor, ratings of clips, 20 answers, 4 seeds",
		"IDRL, 4 updates", "IDRL, 1 update", "11.80\u00a0±\u00a00.90", "17.20\u00a0±\u00a00.50", "Cosine to the true weights",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	timed := strings.Join(timingPart.FindAllString(html, -1), "")
	for _, want := range []string{"Time of one run", "about 40", "2 to 3", "about 10", "4.00\u00a0million"} {
		if !strings.Contains(timed, want) {
			t.Errorf("the times do not say %q", want)
		}
	}
	if d := report.Differences(swimmer, report.Reference(swimmer.Experiment)); len(d) != 6 || d[0].Reference != "idrl:20" {
		t.Errorf("%d comparisons, with %+v", len(d), d)
	}
	if _, root := page(t, "", synthetic(t, experiment.Config{Figure: "chain", Seeds: 2, Answers: 3}, 0)); strings.Contains(text(root), "and the paper's") {
		t.Error("the table of the corridors without a corridor")
	}
}

// A regret stands for the answers since the one before.
func TestAreasMeasuredSeldom(t *testing.T) {
	r := areasOf([]string{"idrl", "uniform"}, []float64{1, 2}, []float64{2, 4})
	r.Experiment.Answers, r.Experiment.Measure = 5, 4
	for i := range r.Runs {
		for m := range r.Runs[i] {
			r.Runs[i][m].Regret = []float64{9, float64(10 * (m + 1)), 0}
		}
	}
	d := report.Differences(r, "idrl")[0]
	if math.Abs(d.Area.Mean-16) > 1e-12 || math.Abs(d.ReferenceArea.Mean-8) > 1e-12 {
		t.Errorf("areas %v and %v, want 16 and 8: four fifths of the answers have the regret 20 or 10", d.Area.Mean, d.ReferenceArea.Mean)
	}
}
