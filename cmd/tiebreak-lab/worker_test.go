package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/command"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment/seeds"
	"tiebreak/internal/train/jobs"

	"github.com/google/go-cmp/cmp"
)

// mortalCommand makes this program a worker that ends in the middle of its first job, if the file that the
// word after it names is not there yet.
const mortalCommand = "mortal-worker"

// TestMain makes this program the real one where a pool starts it as a worker.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "worker":
		lab().Main()
	case len(os.Args) == 3 && os.Args[1] == mortalCommand:
		h := &mortal{Handler: workerHandler(&workerFlags{}), mark: os.Args[2]}
		if err := jobs.Serve(context.Background(), os.Stdin, os.Stdout, h); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type mortal struct {
	jobs.Handler
	mark string
}

func (m *mortal) Do(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	f, err := os.OpenFile(m.mark, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return m.Handler.Do(ctx, job, to)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return err
	}
	return m.Handler.Do(ctx, job, deadly{to})
}

type deadly struct{ jobs.Reporter }

func (d deadly) Checkpoint([]byte) error {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		return err
	}
	select {}
}

// workers returns a pool of workers of this program; args stand in place of "worker".
func workers(t *testing.T, n int, args ...string) *jobs.Pool {
	t.Helper()
	if args == nil {
		args = []string{"worker"}
	}
	p := must.Get(jobs.NewPool(jobs.Config{
		Store: &jobs.Rows{}, Workers: n, Command: append([]string{os.Args[0]}, args...), Backoff: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	}))(t)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// benchBy is the command bench with its runs computed by to. It returns what the command says on the
// way.
func benchBy(ctx context.Context, t *testing.T, to jobs.Starter, figure string, args ...string) (string, error) {
	t.Helper()
	f, fs := &benchFlags{figure: figure}, flag.NewFlagSet("bench", flag.ContinueOnError)
	f.declare(fs)
	must.Do(t, fs.Parse(args))
	var errs bytes.Buffer
	err := f.bench(ctx, command.IO{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &errs}, to)
	return errs.String(), err
}

var (
	runTimes  = regexp.MustCompile(`"(select_ns|wall_ns)":(\[[^]]*\]|[0-9]+)`)
	checksums = regexp.MustCompile(`"checksum":"[0-9a-f]+"`)
)

// keptRuns returns the files of runs of a folder, without times.
func keptRuns(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	found := must.Get(filepath.Glob(filepath.Join(dir, "runs", "*", "*", "*")))(t)
	for _, path := range found {
		b := must.Get(os.ReadFile(path))(t)
		out[strings.TrimPrefix(path, dir)] = checksums.ReplaceAllString(runTimes.ReplaceAllString(string(b), ""), "")
	}
	return out
}

// sameBench checks that two folders have the same runs and the same report, but for times.
func sameBench(t *testing.T, here, away string, runs int) {
	t.Helper()
	kept := keptRuns(t, here)
	if d := cmp.Diff(kept, keptRuns(t, away)); d != "" || len(kept) != runs {
		t.Errorf("%d runs are kept, want %d; in this process against by workers:\n%s", len(kept), runs, d)
	}
	files := benchFiles(t, here)
	if d := cmp.Diff(files, benchFiles(t, away)); d != "" || len(files) < 8 {
		t.Errorf("%d files of the report; in this process against by workers:\n%s", len(files), d)
	}
}

// Workers compute the runs that this process computes, also if one of them dies; and the same command
// goes on from what is kept.
func TestBenchByWorkers(t *testing.T) {
	t.Parallel()
	args := func(dir string) []string {
		return []string{"--seeds", "4", "--answers", "6", "--methods", "idrl,uniform", "--out", dir}
	}
	here := t.TempDir()
	mustCLI(t, append([]string{"bench", "chain"}, args(here)...)...)
	mark := filepath.Join(t.TempDir(), "mark")
	for name, command := range map[string][]string{"worker": {"worker"}, "dies": {mortalCommand, mark}} {
		away := t.TempDir()
		said, err := benchBy(t.Context(), t, workers(t, 2, command...), "chain", args(away)...)
		if err != nil || !strings.Contains(said, "of 16 runs") {
			t.Fatalf("%s: %v, said:\n%s", name, err, said)
		}
		sameBench(t, here, away, 16)
		if said, err := benchBy(t.Context(), t, noWorkers{}, "chain", args(away)...); err != nil || !strings.Contains(said, "16 of 16 runs were computed earlier") {
			t.Errorf("%s, once more: %v, said:\n%s", name, err, said)
		}
	}
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("no worker died: %v", err)
	}
}

// noWorkers refuses all jobs.
type noWorkers struct{}

func (noWorkers) Start(context.Context, jobs.Job) iter.Seq2[jobs.Event, error] {
	return func(yield func(jobs.Event, error) bool) { yield(nil, idrl.Errorf(idrl.Unavailable, "no workers")) }
}

// The first error stops the command, which says what is kept.
func TestBenchByWorkersFails(t *testing.T) {
	t.Parallel()
	_, err := benchBy(t.Context(), t, noWorkers{}, "chain", "--seeds", "2", "--answers", "2", "--out", t.TempDir())
	if idrl.KindOf(err) != idrl.Unavailable || !strings.Contains(err.Error(), "chain-state-corrected, seed ") {
		t.Errorf("no workers: %v", err)
	}
	batch := jobs.NewBatch(workers(t, 1))
	for kind, says := range map[string]string{seeds.Kind: "damaged", "train": `no jobs of kind "train"`} {
		job := jobs.Job{JobKey: record.JobKey{Kind: kind}, Payload: []byte("what")}
		if err := batch.Do(t.Context(), job, kind, nil, nil); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("a payload of kind %s: %v", kind, err)
		}
	}
}

// ender cancels a context when a job is begun.
type ender struct {
	jobs.Starter
	once sync.Once
	stop context.CancelFunc
}

func (s *ender) Start(ctx context.Context, job jobs.Job) iter.Seq2[jobs.Event, error] {
	return func(yield func(jobs.Event, error) bool) {
		for e, err := range s.Starter.Start(ctx, job) {
			if _, ok := e.(jobs.Began); ok {
				s.once.Do(s.stop)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestBenchByWorkersStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said, err := benchBy(ctx, t, &ender{Starter: workers(t, 2), stop: cancel}, "gridworld", "--seeds", "1000", "--out", t.TempDir())
	if !errors.Is(err, context.Canceled) || !strings.Contains(said, "the same command continues from there") {
		t.Errorf("%v, said:\n%s", err, said)
	}
}
