package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/command"
	"tiebreak/internal/lab/experiment"

	"github.com/google/go-cmp/cmp"
)

func TestBenchHelp(t *testing.T) {
	t.Parallel()
	_, help, _ := cli(t, "bench", "--help")
	for _, want := range []string{
		"chain", "gridworld        Gridworld; questions: state, comparison", "uniform    asks at random", "--mode paper", "-workers", "-measure",
		"swimmer-corridor Swimmer-Corridor; questions: clip (takes hours", "corridor         both corridors", "(all: those of the paper that take minutes)",
	} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in:\n%s", want, help)
		}
	}
}

// Whatever is wrong is said before anything is computed or written.
func TestBenchRefuses(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	task := filepath.Join(t.TempDir(), "task.json")
	must.Do(t, os.WriteFile(task, []byte(`{"features": []}`), 0o600))
	for _, test := range []struct {
		name string
		args []string
		want []string
	}{
		{"nothing", nil, []string{"name a figure", "chain"}},
		{"flag first", []string{"--seeds", "3"}, []string{"name a figure"}},
		{"unknown figure", []string{"moon"}, []string{`"moon"`, "chain", "all"}},
		{"unknown mode", []string{"chain", "--mode", "best"}, []string{`"best"`, "corrected, paper"}},
		{"unknown mode of all", []string{"all", "--mode", "best"}, []string{`"best"`, "corrected, paper"}},
		{"unknown questions", []string{"chain", "--queries", "clip"}, []string{`"clip"`, "state, comparison"}},
		{"unknown questions of all", []string{"all", "--queries", "clip"}, []string{`"clip"`, "state, comparison"}},
		{"questions of another figure", []string{"driver", "--queries", "state"}, []string{`"state"`, "comparison"}},
		{"unknown walls", []string{"gridworld", "--walls", "brick"}, []string{`"brick"`, "text, code"}},
		{"unknown candidates", []string{"all", "--candidates", "few"}, []string{`"few"`, "text, code"}},
		{"suite in another mode", []string{"suite", "--mode", "paper"}, []string{"the suite has a fixed mode"}},
		{"suite with other questions", []string{"suite", "--queries", "state"}, []string{"the suite has a fixed mode"}},
		{"unknown expert", []string{"chain", "--expert", "oracle"}, []string{`"oracle"`, "people"}},
		{"no seeds", []string{"all", "--seeds", "0"}, []string{"seeds", "must be 1 to"}},
		{"negative answers", []string{"chain", "--answers", "-1"}, []string{"answers", "-1"}},
		{"negative measure", []string{"chain", "--measure", "-1"}, []string{"every so many answers", "-1"}},
		{"clips of a small figure", []string{"all", "--queries", "clip"}, []string{`"clip"`, "state, comparison"}},
		{"no workers", []string{"chain", "--workers", "0"}, []string{"workers"}},
		{"unknown method", []string{"chain", "--queries", "state", "--methods", "idrl,magic"}, []string{`"magic"`, "uniform"}},
		{"unknown method of several", []string{"chain", "--methods", "idrl,magic"}, []string{`"magic"`, "uniform"}},
		{"method twice", []string{"chain", "--methods", "idrl,idrl"}, []string{"twice"}},
		{"method that does not apply", []string{"chain", "--queries", "comparison", "--methods", "eir"}, []string{"EIR does not apply"}},
		{"method that applies to none", []string{"chain", "--methods", "idrl,mr"}, []string{"MR does not apply"}},
		{"later than the paper", []string{"chain", "--mode", "paper", "--methods", "idrl,lvar"}, []string{`"lvar"`, "not in the paper"}},
		{"empty name", []string{"chain", "--methods", "idrl,"}, []string{`""`}},
		{"no such task", []string{filepath.Join(out, "none.json")}, []string{"none.json"}},
		{"empty task", []string{task}, []string{"features"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, stdout, stderr := cli(t, append(append([]string{"bench"}, test.args...), "--out", out)...)
			if status != 2 || stdout != "" {
				t.Errorf("status %d, want 2; it said:\n%s%s", status, stdout, stderr)
			}
			for _, w := range test.want {
				if !strings.Contains(stderr, w) {
					t.Errorf("no %q in:\n%s", w, stderr)
				}
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("it wrote something")
			}
		})
	}
}

// The paper's figures that take long are asked for by name.
func TestBenchNames(t *testing.T) {
	t.Parallel()
	long := []string{"swimmer-corridor", "ant-corridor"}
	for what, want := range map[string][]string{
		"all": {"chain", "junction", "gridworld", "driver"}, "corridor": long, "ties": {"ties"},
	} {
		if d := cmp.Diff(want, named(what)); d != "" {
			t.Errorf("%s stands for:\n%s", what, d)
		}
	}
}

// A program without the simulator says so before anything is computed or written;
// one with it goes on to look at the other flags.
func TestBenchCorridor(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	figure := must.Get(experiment.FindFigure("swimmer-corridor"))(t)
	want, code := "seeds and answers must be", 2
	if err := figure.Available(); err != nil {
		want, code = err.Error(), 1
	}
	for _, what := range []string{"corridor", "swimmer-corridor"} {
		status, stdout, stderr := cli(t, "bench", what, "--seeds", "0", "--out", out)
		if status != code || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, want %d and %q:\n%s%s", what, status, code, want, stdout, stderr)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("it wrote something")
	}
}

// A curve that is measured after every second answer has as many points.
func TestBenchMeasure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	status, _, stderr := cli(t, "bench", "chain", "--queries", "state", "--seeds", "1", "--answers", "5", "--measure", "2", "--methods", "uniform", "--out", dir)
	if status != 0 {
		t.Fatal(stderr)
	}
	files := benchFiles(t, dir)
	if n := strings.Count(files["/chain-state-corrected/summary.csv"], "\n"); n != 1+4 {
		t.Errorf("%d lines of the summary, want the head and 0, 2, 4 and 5 answers", n)
	}
	if !strings.Contains(files["/report.html"], "--measure 2") {
		t.Error("the page does not tell the flag")
	}
}

var benchTimes = regexp.MustCompile(`(?s)<div data-part="timing">.*?</section>`)

// benchFiles returns what bench wrote but for times and kept runs.
func benchFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.html", "*/*.csv", "*/*.json", "*/*.svg", "*/*.png"} {
		found := must.Get(filepath.Glob(filepath.Join(dir, pattern)))(t)
		for _, path := range found {
			data := must.Get(os.ReadFile(path))(t)
			if name := strings.TrimPrefix(path, dir); !strings.HasSuffix(name, "timing.csv") {
				out[filepath.ToSlash(name)] = benchTimes.ReplaceAllString(string(data), "")
			}
		}
	}
	return out
}

// A figure runs all its query types, and the number of workers does not change
// a byte.
func TestBench(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	for dir, workers := range map[string]string{one: "1", two: "2"} {
		status, stdout, stderr := cli(t, "bench", "junction", "--seeds", "3", "--answers", "3", "--methods", "idrl,eir", "--workers", workers, "--out", dir)
		if status != 0 || strings.Count(stdout, "written to") != 2 || !strings.Contains(stdout, filepath.Join(dir, "report.html")) {
			t.Fatalf("status %d\n%s%s", status, stdout, stderr)
		}
		if !strings.Contains(stderr, "junction, comparison: without eir: EIR does not apply") || !strings.Contains(stderr, "1 of 9 runs, times of 2 methods are not known yet") || strings.Contains(stderr, "\r") {
			t.Errorf("it does not say what is left out, or how far it is:\n%s", stderr)
		}
	}
	files := benchFiles(t, one)
	if d := cmp.Diff(files, benchFiles(t, two)); len(files) != 15 || d != "" {
		t.Errorf("%d files, want 15; two workers against one:\n%s", len(files), d)
	}
	want := "tiebreak-lab bench junction --answers 3 --first-seed 1 --methods idrl,eir --mode corrected --seeds 3"
	if page := files["/report.html"]; !strings.Contains(page, want+"</code>") || !strings.Contains(page, `data-experiment="junction-comparison-corrected"`) {
		t.Errorf("the page has no command line %q or not both experiments", want)
	}
}

// With a list of methods, figures that none of them applies to are left out.
func TestBenchLeavesOut(t *testing.T) {
	t.Parallel()
	status, stdout, stderr := cli(t, "bench", "all", "--queries", "state", "--mode", "paper", "--methods", "eir", "--seeds", "1", "--answers", "1", "--out", t.TempDir())
	if want := "driver, state: left out"; !strings.Contains(stderr, want) {
		t.Errorf("it does not say %q:\n%s", want, stderr)
	}
	if status != 0 || strings.Count(stdout, "written to") != 3 {
		t.Errorf("status %d, want three experiments:\n%s%s", status, stdout, stderr)
	}
}

// stopper cancels a context once what is written to it has a word.
type stopper struct {
	bytes.Buffer
	word string
	stop context.CancelFunc
}

func (s *stopper) Write(p []byte) (int, error) {
	n, err := s.Buffer.Write(p)
	if strings.Contains(s.String(), s.word) {
		s.stop()
	}
	return n, err
}

// A stopped run says how to go on; going on gives what an undisturbed run gives,
// also if a kept run was cut short.
func TestBenchGoesOn(t *testing.T) {
	t.Parallel()
	dir, straight := t.TempDir(), t.TempDir()
	args := []string{"bench", "chain", "--queries", "state", "--seeds", "6", "--answers", "4", "--methods", "idrl,uniform", "--workers", "1", "--out"}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out bytes.Buffer
	said := &stopper{word: "1 of 12", stop: stop}
	if status := run(ctx, command.IO{In: strings.NewReader(""), Out: &out, Err: said}, append(args, dir)); status != 130 || out.Len() > 0 {
		t.Errorf("stopped: status %d, said %s", status, out.String())
	}
	kept, err := filepath.Glob(filepath.Join(dir, "runs", "chain-state-corrected", "*", "*.json"))
	if err != nil || len(kept) < 1 || len(kept) == 12 || !strings.Contains(said.String(), "the same command continues from there") {
		t.Fatalf("%d runs kept, error %v, said:\n%s", len(kept), err, said)
	}
	part, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.WriteFile(filepath.Join(filepath.Dir(kept[0]), "6.json"), part[:100], 0o600))
	status, _, stderr := cli(t, append(args, dir)...)
	if status != 0 || !strings.Contains(stderr, "of 12 runs were computed earlier") || strings.Count(stderr, "is damaged") != 1 {
		t.Errorf("status %d, said:\n%s", status, stderr)
	}
	if status, _, stderr := cli(t, append(args, straight)...); status != 0 {
		t.Fatal(stderr)
	}
	if d := cmp.Diff(benchFiles(t, straight), benchFiles(t, dir)); d != "" {
		t.Errorf("going on against going straight:\n%s", d)
	}
}

func TestBenchTask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "task.json")
	const task = `{"title": "Two <ways>", "features": ["left", "right"],
		"items": [{"id": "l", "features": [1, 0]}, {"id": "r", "features": [0, 1]}],
		"policies": [{"id": "go left", "features": [5, 0]}, {"id": "go right", "features": [0, 5]}],
		"queries": [{"rate": "l"}, {"rate": "r"}], "budget": 2}`
	must.Do(t, os.WriteFile(path, []byte(task), 0o600))
	status, stdout, stderr := cli(t, "bench", path, "--seeds", "2", "--methods", "idrl,uniform", "--out", dir)
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if status != 0 || err != nil || !strings.Contains(stdout, "task-") || !strings.Contains(string(page), "<h2>Two &lt;ways&gt;</h2>") {
		t.Errorf("status %d, error %v\n%s%s", status, err, stdout, stderr)
	}
}

func TestRoughly(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		1499 * time.Millisecond: "1s", 9*time.Minute + 12*time.Second: "9m12s", 25*time.Minute + 50*time.Second: "26m", 3*time.Hour + 4*time.Minute: "3h4m",
	} {
		if got := roughly(d); got != want {
			t.Errorf("%v roughly %q, want %q", d, got, want)
		}
	}
}
