package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"

	"github.com/google/go-cmp/cmp"
)

// written stores r and a page about it, and returns all files by name.
func written(t *testing.T, r experiment.Result) map[string][]byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "results")
	must.Do(t, report.Write(dir, r))
	must.Do(t, report.WritePage(dir, "tiebreak-lab bench chain", results(r, r)))
	out := map[string][]byte{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	}))
	return out
}

func rows(t *testing.T, data []byte) [][]string {
	t.Helper()
	out := must.Get(csv.NewReader(bytes.NewReader(data)).ReadAll())(t)
	return out
}

func TestWrite(t *testing.T) {
	r := areasOf([]string{"idrl", "uniform"}, []float64{1, 2, 3, 4}, []float64{2, 4, 6, 4})
	files := written(t, r)
	const dir = "chain-state-corrected/"
	long := rows(t, files[dir+"runs.csv"])
	if len(long) != 1+2*4*2 {
		t.Fatalf("%d rows of the long form", len(long))
	}
	if d := cmp.Diff([]string{"figure", "queries", "mode", "walls", "candidates", "expert", "method", "seed", "answers", "regret", "mse", "cosine"}, long[0]); d != "" {
		t.Errorf("columns of the long form:\n%s", d)
	}
	if d := cmp.Diff([]string{"chain", "state", "corrected", "text", "text", "paper", "idrl", "2", "1", "2", "0.5", "0.25"}, long[4]); d != "" {
		t.Errorf("seed 2 after its answer:\n%s", d)
	}
	summary := rows(t, files[dir+"summary.csv"])
	if d := cmp.Diff([]string{"chain", "state", "corrected", "uniform", "4", "1", "4", "0.81649658", "4", "0.5", "0", "0.5", "0.25", "0", "0.25"}, summary[4]); len(summary) != 5 || d != "" {
		t.Errorf("%d rows of the summary, the last:\n%s", len(summary), d)
	}
	var stats struct {
		Methods []struct {
			Method            string
			First, Last, Area report.Mean
		}
		Differences []report.Difference
		ToTenth     []report.Reached `json:"answers_to_tenth"`
	}
	must.Do(t, json.Unmarshal(files[dir+"stats.json"], &stats))
	if stats.Methods[1].First.Mean != 8 || stats.Methods[1].Area.Mean != 4 || stats.Differences[0].Diff.Mean != 1.5 || stats.ToTenth[0].Censored != 1 {
		t.Errorf("statistics %+v", stats)
	}
	timing := rows(t, files[dir+"timing.csv"])
	if d := cmp.Diff([]string{"uniform", "4", "0.001", "0.001", "2"}, timing[2]); d != "" {
		t.Errorf("times:\n%s", d)
	}
	if _, ok := files[dir+"agreement.csv"]; ok {
		t.Error("an agreement with the authors' code of what it does not do")
	}
}

var timingPart = regexp.MustCompile(`(?s)<div data-part="timing">.*?</section>`)

// Two runs of the same seeds differ in their times, and in nothing else that is
// written.
func TestTimesStayApart(t *testing.T) {
	c := chainAsInPaper
	c.Seeds, c.Answers = 5, 6
	one, two := written(t, synthetic(t, c, 1)), written(t, synthetic(t, c, 2))
	if len(one) != 10 || len(two) != len(one) {
		t.Errorf("%d and %d files, want 10", len(one), len(two))
	}
	agreement := rows(t, one["chain-state-paper/agreement.csv"])
	if d := cmp.Diff([]string{"19.317355", "4.4326007"}, agreement[2][5:7]); len(agreement) != 1+4*6 || d != "" {
		t.Errorf("%d rows of the agreement; the authors' IDRL after two queries:\n%s", len(agreement), d)
	}
	for name, data := range one {
		switch {
		case strings.HasSuffix(name, "timing.csv"):
			if bytes.Equal(data, two[name]) {
				t.Error("the times do not differ: this test shows nothing")
			}
		case name == "report.html":
			if bytes.Equal(data, two[name]) || len(timingPart.FindAll(data, -1)) != 2 {
				t.Errorf("%d parts with times in the page", len(timingPart.FindAll(data, -1)))
			}
			if d := cmp.Diff(timingPart.ReplaceAll(data, nil), timingPart.ReplaceAll(two[name], nil)); d != "" {
				t.Errorf("the pages differ outside the times:\n%s", d)
			}
		case !bytes.Equal(data, two[name]):
			t.Errorf("%s differs", name)
		}
	}
}

func TestWriteFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	r := areasOf([]string{"idrl"}, []float64{1})
	if err := report.Write(file, r); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file in place of the folder: error %v", err)
	}
	if err := report.WritePage(file, "", results(r)); err == nil {
		t.Error("page: a file in place of the folder, and no error")
	}
}

func TestPlot(t *testing.T) {
	nine := []string{"idrl", "uniform", "igr", "eir", "epd", "lvar", "tt", "err", "kg"}
	r := synthetic(t, experiment.Config{Figure: "chain", Methods: nine, Seeds: 3, Answers: 10}, 0)
	data := must.Get(report.Plot(r, "regret", "png"))(t)
	if img, err := png.Decode(bytes.NewReader(data)); err != nil || img.Bounds().Dx() < 600 {
		t.Errorf("image %v, error %v", img.Bounds(), err)
	}
	for _, measure := range []string{"regret", "mse"} {
		svg := must.Get(report.Plot(r, measure, "svg"))(t)
		if lines := colours(svg); len(lines) != len(nine) {
			t.Errorf("%s: %d methods have %d colours: %v", measure, len(nine), len(lines), lines)
		}
		if strings.Contains(string(svg), "authors") {
			t.Error("the authors' curves beside another experiment")
		}
	}
	paper := synthetic(t, chainAsInPaper, 0)
	if svg, err := report.Plot(paper, "regret", "svg"); err != nil || strings.Count(string(svg), ">authors&#39; code<") != 1 {
		t.Errorf("no legend of the authors' curves, error %v", err)
	}
	for _, bad := range [][2]string{{"cosine", "svg"}, {"regret", "gif89"}} {
		if _, err := report.Plot(r, bad[0], bad[1]); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%v: error %v", bad, err)
		}
	}
}

// colours returns the colours of the lines of a plot that are as thick as a curve
// of ours.
func colours(svg []byte) map[string]bool {
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`style="([^"]*stroke-width:1.6[^"]*)"`).FindAllSubmatch(svg, -1) {
		out[string(regexp.MustCompile(`stroke:[^;]*`).Find(m[1]))] = true
	}
	return out
}
