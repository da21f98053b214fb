package experiment_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/experiment"
	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats/scalar"
)

func run(t *testing.T, c experiment.Config) experiment.Result {
	t.Helper()
	r, err := experiment.Run(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGridworldIsLearned is a small version of the experiment: after ten of its
// 20 answers IDRL has lost nine tenths of its regret.
func TestGridworldIsLearned(t *testing.T) {
	r := run(t, experiment.Config{Setting: "gridworld-code", Seeds: 6, Answers: 10, Methods: []string{"idrl"}, Workers: 2})
	if f := r.Falls()[0]; f.Share < 0.9 {
		t.Errorf("regret fell from %v to %v, by %v; want 0.9", f.Start.Mean, f.End.Mean, f.Share)
	}
	if c := r.Cosine(0, 10).Mean; c < 0.8 {
		t.Errorf("mean cosine = %v", c)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		c    experiment.Config
		says string
	}{
		{"unknown setting", experiment.Config{Setting: "moon", Seeds: 1}, "driver, gridworld, gridworld-code"},
		{"no seeds", experiment.Config{Setting: "driver"}, "seeds"},
		{"negative answers", experiment.Config{Setting: "driver", Seeds: 1, Answers: -1}, "answers"},
		{"unknown method", experiment.Config{Setting: "driver", Seeds: 1, Methods: []string{"magic"}}, "idrl, uniform"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := experiment.Run(t.Context(), test.c, nil)
			if err == nil || idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error = %v, want one of kind Invalid that says %q", err, test.says)
			}
		})
	}
}

func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := experiment.Run(ctx, experiment.Config{Setting: "gridworld", Seeds: 1000, Answers: 1}, func(done, total int, _ string) {
		if calls++; done != calls || total != 1000 {
			t.Errorf("progress %d of %d in call %d", done, total, calls)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

// result has two methods, four seeds and one answer; the areas are the regrets
// after it.
func result() experiment.Result {
	s, _ := experiment.FindSetting("gridworld")
	r := experiment.Result{Setting: s, Answers: 1, Methods: []string{"idrl", "uniform"}}
	for _, regret := range [][2]float64{{1, 2}, {2, 4}, {3, 6}, {4, 4}} {
		r.Curves = append(r.Curves, [][]experiment.Point{
			{{Regret: 8}, {Answers: 1, Regret: regret[0], Cosine: 0.5}},
			{{Regret: 8}, {Answers: 1, Regret: regret[1], Cosine: 0.25}},
		})
	}
	return r
}

// Differences −1, −2, −3, 0: mean −1.5, standard deviation √(5/3), standard
// error 0.645497; t quantile 3.182446 with three degrees of freedom.
func TestDifferences(t *testing.T) {
	got := result().Differences()
	if len(got) != 1 {
		t.Fatalf("%d differences, want 1: one pair of methods, one length", len(got))
	}
	d := got[0]
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"mean", d.Diff.Mean, -1.5},
		{"standard error", d.Diff.SE, 0.6454972},
		{"t, low", d.T[0], -1.5 - 3.1824463*0.6454972},
		{"t, high", d.T[1], -1.5 + 3.1824463*0.6454972},
		{"first area", d.Areas[0].Mean, 2.5},
		{"second area", d.Areas[1].Mean, 4},
		{"relative", d.Relative, -0.375},
		{"better", d.Better, 0.75},
		{"worse", d.Worse, 0},
	} {
		if !scalar.EqualWithinAbs(test.got, test.want, 1e-6) {
			t.Errorf("%s = %v, want %v", test.name, test.got, test.want)
		}
	}
	if !(d.Boot[0] >= -3 && d.Boot[0] < -2 && d.Boot[1] > -1 && d.Boot[1] <= 0) {
		t.Errorf("bootstrap interval = %v", d.Boot)
	}
	one := result()
	one.Curves = one.Curves[:1]
	if got := one.Differences(); len(got) != 0 {
		t.Errorf("one seed has no interval, got %v", got)
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "results")
	if err := experiment.Write(dir, result()); err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	long, err := csv.NewReader(bytes.NewReader(read("gridworld.csv"))).ReadAll()
	if err != nil || len(long) != 1+2*4*2 {
		t.Fatalf("%d rows of the long form, error %v", len(long), err)
	}
	if d := cmp.Diff([]string{"gridworld", "idrl", "0", "1", "1", "0.5", "0"}, long[2]); d != "" {
		t.Errorf("second row of the long form:\n%s", d)
	}
	summary, err := csv.NewReader(bytes.NewReader(read("gridworld-summary.csv"))).ReadAll()
	if err != nil || len(summary) != 1+2*2 || summary[4][1] != "uniform" || summary[4][4] != "4" {
		t.Errorf("summary %v, error %v", summary, err)
	}
	var report struct {
		Falls []experiment.Fall `json:"falls"`
	}
	if err := json.Unmarshal(read("gridworld.json"), &report); err != nil || report.Falls[0].Share != 1-2.5/8 {
		t.Errorf("report %+v, error %v", report, err)
	}
	if md := string(read("gridworld.md")); !strings.Contains(md, "| idrl − uniform | 1–1 | 2.5, 4 | -1.5 (-38 %) |") {
		t.Errorf("report in words:\n%s", md)
	}
	for _, plot := range []string{"gridworld-regret", "gridworld-cosine"} {
		img, err := png.Decode(bytes.NewReader(read(plot + ".png")))
		if err != nil || img.Bounds().Dx() < 500 {
			t.Errorf("%s.png: error %v", plot, err)
		}
		if !bytes.Contains(read(plot+".svg"), []byte("<svg")) {
			t.Errorf("%s.svg is no SVG", plot)
		}
	}
	if err := experiment.Write(filepath.Join(dir, "gridworld.csv"), result()); err == nil {
		t.Error("a file in place of the folder: no error")
	}
}
