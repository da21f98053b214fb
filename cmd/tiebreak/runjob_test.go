package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/train/jobs"

	"github.com/google/go-cmp/cmp"
)

// runWorkers are workers of the real program.
type runWorkers struct {
	*jobs.Pool
	temporary string // where they make temporary folders
	pids      string // file with a process id a line
}

func newRunWorkers(t *testing.T, n int) runWorkers {
	t.Helper()
	dir := t.TempDir()
	w := runWorkers{temporary: filepath.Join(dir, "tmp"), pids: filepath.Join(dir, "pids")}
	must.Do(t, os.Mkdir(w.temporary, 0o700))
	var err error
	w.Pool, err = jobs.NewPool(jobs.Config{
		Store: &jobs.Rows{}, Workers: n, Env: []string{"TMPDIR=" + w.temporary}, Backoff: time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Command: []string{"sh", "-c", `echo $$ >> "$1"; exec "$0" worker`, program(t), w.pids},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// nothingLeft checks that the workers have removed their temporary folders.
func (w runWorkers) nothingLeft(t *testing.T) {
	t.Helper()
	_ = w.Close()
	if left, err := os.ReadDir(w.temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// tapped hears what a starter says of jobs.
type tapped struct {
	jobs.Starter
	mu   sync.Mutex // is held when hear is called
	hear func(jobs.Event)
}

func (s *tapped) Start(ctx context.Context, job jobs.Job) iter.Seq2[jobs.Event, error] {
	return func(yield func(jobs.Event, error) bool) {
		for e, err := range s.Starter.Start(ctx, job) {
			s.mu.Lock()
			s.hear(e)
			s.mu.Unlock()
			if !yield(e, err) {
				return
			}
		}
	}
}

// simulateBy is the command simulate with its runs done by to. It returns what the command prints.
func simulateBy(ctx context.Context, t *testing.T, to jobs.Starter, args ...string) (string, error) {
	t.Helper()
	f, fs := &simulateFlags{}, flag.NewFlagSet("simulate", flag.ContinueOnError)
	f.declare(fs)
	must.Do(t, fs.Parse(args))
	var out, errs bytes.Buffer
	err := f.simulate(ctx, stdio{In: strings.NewReader(""), Out: &out, Err: &errs}, to)
	if err == nil && !strings.Contains(errs.String(), " runs, ") {
		t.Errorf("nothing says how far it is:\n%s", &errs)
	}
	return out.String(), err
}

// sameRuns reports whether two files of comparisons, and the files beside them, hold the same runs. The
// ids of sessions and times may differ, and the order of the runs.
func sameRuns(t *testing.T, one, two string) {
	t.Helper()
	for _, name := range []string{"", "-runs"} {
		read := func(file string) [][]string {
			f := must.Get(os.Open(strings.TrimSuffix(file, ".csv") + name + ".csv"))(t)
			defer f.Close()
			rows := must.Get(csv.NewReader(f).ReadAll())(t)
			for _, column := range []string{"session", "response_s", "seconds"} {
				if at := slices.Index(rows[0], column); at >= 0 {
					for i := range rows {
						rows[i] = slices.Delete(rows[i], at, at+1)
					}
				}
			}
			slices.SortStableFunc(rows[1:], func(a, b []string) int { return strings.Compare(a[0], b[0]) }) // by seed
			return rows
		}
		a, b := read(one), read(two)
		if d := cmp.Diff(a, b); d != "" || len(a) < 2 {
			t.Errorf("%d lines of the file %q differ:\n%s", len(a), name, d)
		}
	}
}

// gridworldRuns are runs that their seeds decide: generations come at fixed answers, every third, and
// are in use a moment after such an answer is acknowledged. Comparisons are after others.
func gridworldRuns(runs int, file string) []string {
	return []string{"--runs", strconv.Itoa(runs), "--env", "gridworld", "--matched", "--answers", "10", "--every", "4", "--train-every", "3", "--adopt-after", "3", "--pace", "1s", "--skip-idle", "--seed", "7", "--csv", file}
}

// Runs that workers do are those of this process.
func TestRunsByWorkers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, away := filepath.Join(dir, "here.csv"), filepath.Join(dir, "away.csv")
	simulateRuns(t, gridworldRuns(4, here)...)
	w := newRunWorkers(t, 2)
	begun, most := 0, 0
	said, err := simulateBy(t.Context(), t, &tapped{Starter: w, hear: func(e jobs.Event) {
		switch e.(type) {
		case jobs.Began:
			begun++
		case jobs.Done:
			begun--
		}
		most = max(most, begun)
	}}, gridworldRuns(4, away)...)
	if err != nil || !strings.Contains(said, "4 runs (seeds 7 to 10), 12 comparisons") {
		t.Fatalf("%v, said:\n%s", err, said)
	}
	if most < 2 {
		t.Errorf("%d runs at a time", most)
	}
	sameRuns(t, here, away)
	w.nothingLeft(t)
}

// A worker that is killed in the middle of a run changes nothing.
func TestRunsByWorkersThatDie(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, away := filepath.Join(dir, "here.csv"), filepath.Join(dir, "away.csv")
	simulateRuns(t, gridworldRuns(1, here)...)
	w := newRunWorkers(t, 1)
	var attempts []int64
	_, err := simulateBy(t.Context(), t, &tapped{Starter: w, hear: func(e jobs.Event) {
		switch e := e.(type) {
		case jobs.Began:
			attempts = append(attempts, e.Attempt)
		case jobs.Progress:
			if e.Done == 4 && len(attempts) == 1 {
				w.kill(t)
			}
		}
	}}, gridworldRuns(1, away)...)
	if err != nil || !slices.Equal(attempts, []int64{1, 2}) {
		t.Fatalf("%v, attempts %v", err, attempts)
	}
	sameRuns(t, here, away)
}

// kill ends the worker that was started last.
func (w runWorkers) kill(t *testing.T) {
	t.Helper()
	list, err := os.ReadFile(w.pids)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(list))
	pid, err := strconv.Atoi(lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What --study prints about conditions, and the hours, come from the workers too.
func TestStudyByWorkers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "study.yaml")
	must.Do(t, os.WriteFile(path, []byte("env: gridworld\nkind: state_comparison\nbudget: 20\nadopt_after: 3\nconditions: [{strategy: uniform, share: 0.4}]\nheld_out: 0.3\n"), 0o600))
	args := []string{"--study", path, "--runs", "2", "--pace", "300ms"}
	table := regexp.MustCompile(`(?s)Accuracy on held-out comparisons .* held out: \d+ comparisons`)
	here := table.FindString(simulateRuns(t, args...))
	w := newRunWorkers(t, 2)
	said, err := simulateBy(t.Context(), t, w, args...)
	if err != nil || here == "" || table.FindString(said) != here {
		t.Errorf("%v, in this process:\n%s\nby workers:\n%s", err, here, said)
	}
	m := regexp.MustCompile(`by 2 rehearsals .*\n  answers +\d+ .*\n  time +([0-9.]+) seconds`).FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("no time in:\n%s", said)
	}
	if s, err := strconv.ParseFloat(m[1], 64); err != nil || s < 20*0.3/2 { // at least half of the median of the answers' times
		t.Errorf("%v seconds for 20 answers of 0.3 s", m[1])
	}
}

func TestRunsByWorkersStop(t *testing.T) {
	t.Parallel()
	w := newRunWorkers(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	file := filepath.Join(t.TempDir(), "runs.csv")
	_, err := simulateBy(ctx, t, &tapped{Starter: w, hear: func(e jobs.Event) {
		if p, ok := e.(jobs.Progress); ok && p.Done == 4 {
			cancel()
		}
	}}, gridworldRuns(3, file)...)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	w.nothingLeft(t)
	if _, err := simulateBy(t.Context(), t, w, "--runs", "1", "--data", t.TempDir()); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), "--data") {
		t.Errorf("with --data: %v", err)
	}
}

// A worker says why it cannot do a run.
func TestRunsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newRunWorkers(t, 1)
	encoded := func(v runRequest) []byte {
		b := must.Get(pack.Encode(&v))(t)
		return b
	}
	whole := encoded(runRequest{Plan: runPlan{Spec: idrl.SessionSpec{Env: "mars"}, Answers: 1}})
	other := must.Get(pack.Encode(&struct{ Seed uint64 }{1}))(t)
	for name, test := range map[string]struct {
		kind    string
		payload []byte
		says    string
	}{
		"cut off":                 {runKind, whole[:len(whole)/2], "damaged"},
		"empty":                   {runKind, nil, "damaged"},
		"of another version":      {runKind, other, "another version of the program"},
		"an unknown environment":  {runKind, whole, `unknown environment "mars"`},
		"an unknown kind of jobs": {"dream", whole, `no jobs of kind "dream"`},
	} {
		job := jobs.Job{JobKey: record.JobKey{Kind: test.kind}, Payload: test.payload}
		err := jobs.NewBatch(w).Do(t.Context(), job, runKind, nil, func([]byte) error { return errors.New("there is a result") })
		if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
	w.nothingLeft(t)
}

// A result is checked before it is used.
func TestRunResultsAreChecked(t *testing.T) {
	t.Parallel()
	req := runRequest{Plan: runPlan{Answers: 4}, Seed: 3}
	for name, change := range map[string]func(*runResult){
		"of another seed":  func(r *runResult) { r.Run.Seed = 4 },
		"empty":            func(r *runResult) { r.Run.Rows = nil },
		"too many answers": func(r *runResult) { r.Run.Rows[1].Given = 5 },
		"out of order":     func(r *runResult) { r.Run.Rows[0].Given = 4 },
	} {
		r := runResult{}
		r.Run.Seed = 3
		r.Run.Rows = append(r.Run.Rows, rehearsal.Comparison{Given: 2}, rehearsal.Comparison{Given: 3})
		must.Do(t, r.check(req))
		if change(&r); r.check(req) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
