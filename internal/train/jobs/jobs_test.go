//go:build unix

package jobs_test

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
	"tiebreak/store"
)

var _ jobs.Store = (*store.DB)(nil)

// workerEnv makes this program a worker.
const workerEnv = "TIEBREAK_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		var h jobs.Handler = handler{}
		if os.Getenv(workerEnv) == "contract" {
			h = &jobstest.Handler{Die: die}
		}
		if err := jobs.Serve(context.Background(), os.Stdin, os.Stdout, h); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// scheduling says how this process is scheduled where that can be told.
var scheduling = func() string { return "" }

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// handler is what workers of these tests run.
type handler struct{}

func (handler) Forget(idrl.SessionID) {}

func (handler) Do(ctx context.Context, job record.JobRecord, to jobs.Reporter) error {
	b, err := handle(ctx, string(job.Payload), to)
	return errors.Join(err, to.Artefact("result", b))
}

// handle does what the first word of the payload says.
func handle(ctx context.Context, payload string, to jobs.Reporter) ([]byte, error) {
	word, rest, _ := strings.Cut(payload, " ")
	switch word {
	case "echo":
		return []byte(rest), nil
	case "pid":
		return []byte(strconv.Itoa(os.Getpid())), nil
	case "invalid":
		return nil, idrl.Errorf(idrl.Invalid, "%s", rest)
	case "fail":
		return nil, errors.New(rest)
	case "steps":
		for k := range 3 {
			to.Progress(k+1, 3, "step "+strconv.Itoa(k+1))
		}
		return nil, nil
	case "die":
		die()
	case "die-once": // rest names a file that remembers
		if _, err := os.Stat(rest); err == nil {
			return []byte("second"), nil
		}
		if err := os.WriteFile(rest, nil, 0o600); err != nil {
			return nil, err
		}
		die()
	case "wait": // says its pid, then waits to be told to stop
		to.Progress(os.Getpid(), 0, "waiting")
		<-ctx.Done()
		return nil, ctx.Err()
	case "deaf":
		to.Progress(os.Getpid(), 0, "deaf")
		select {}
	case "sum": // a number that depends on every step
		n, err := strconv.Atoi(rest)
		sum := uint64(1)
		for k := range n {
			sum = sum*6364136223846793005 + uint64(k)
			to.Progress(os.Getpid(), k, "adding")
		}
		return []byte(strconv.FormatUint(sum, 16)), err
	case "work": // reports its pid again and again until it is told to stop
		for ctx.Err() == nil {
			to.Progress(os.Getpid(), 0, "working")
		}
		return nil, ctx.Err()
	case "nice":
		prio, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
		return []byte(strconv.Itoa(20-prio) + " GOMAXPROCS=" + os.Getenv("GOMAXPROCS") + scheduling()), err // the raw call returns 20 - nice
	case "babble":
		_, err := io.WriteString(os.Stdout, "this is no frame of the protocol\n")
		return nil, err
	case "large":
		return make([]byte, 16<<20+1), nil
	case "write": // rest is in hexadecimal digits
		b, err := hex.DecodeString(rest)
		_, again := os.Stdout.Write(b)
		return nil, errors.Join(err, again, errors.New("written"))
	case "panic":
		for range 50 {
			go func() { select {} }()
		}
		debug.SetTraceback("all")
		panic("out of coffee")
	case "complain":
		_, err := io.WriteString(os.Stderr, rest+"\n")
		return nil, err
	}
	return nil, errors.New("unknown word " + word)
}

var key = record.JobKey{Session: "s", Kind: "train", BasedOn: 3}

// pool returns a pool of workers that are copies of this program.
func pool(t *testing.T, change func(*jobs.Config)) (*jobs.Pool, *jobstest.Store) {
	t.Helper()
	s := &jobstest.Store{}
	c := jobs.Config{
		Store: s, Command: []string{os.Args[0]},
		Env:     []string{workerEnv + "=1", "GORACE=atexit_sleep_ms=0"}, // the race detector else sleeps 1 s at the end
		Backoff: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&c)
	}
	p := must.Get(jobs.NewPool(c))(t)
	t.Cleanup(func() { _ = p.Close() })
	return p, s
}

// A hearer is told of a job while it is done; both may be nil.
type hearer struct {
	progress func(done, total int, what string)
	outlook  func(idrl.Outlook)
}

// run reads the stream of a job to its end and returns its last artefact.
func run(ctx context.Context, p *jobs.Pool, job jobs.Job, to hearer) (result string, done jobs.Done, err error) {
	for e, err := range p.Start(ctx, job) {
		switch e := e.(type) {
		case jobs.Progress:
			if to.progress != nil {
				to.progress(e.Done, e.Total, e.What)
			}
		case jobs.Outlook:
			if to.outlook != nil {
				to.outlook(idrl.Outlook(e))
			}
		case jobs.Artefact:
			result = string(e.Bytes)
		case jobs.Done:
			done = e
		}
		if err != nil {
			return "", done, err
		}
	}
	return result, done, nil
}

func job(payload string) jobs.Job {
	return jobs.Job{JobKey: key, Work: time.Second, Payload: []byte(payload)}
}

func do(t *testing.T, p *jobs.Pool, payload string) string {
	t.Helper()
	r, _, err := run(t.Context(), p, job(payload), hearer{})
	if err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	return r
}

// The pool keeps the contract of dispatchers.
func TestContract(t *testing.T) {
	jobstest.Run(t, func(t *testing.T, s jobs.Store) jobstest.Dispatcher {
		p, _ := pool(t, func(c *jobs.Config) {
			c.Store, c.Env = s, append(c.Env, workerEnv+"=contract")
		})
		return p
	})
}

func TestResults(t *testing.T) {
	p, l := pool(t, nil)
	big := strings.Repeat("0123456789", 300_000) // more than any pipe holds
	for _, want := range []string{"hello", "", "line\nbreak", big} {
		if got := do(t, p, "echo "+want); got != want {
			t.Errorf("%d bytes came back as %d", len(want), len(got))
		}
	}
	if first, second := do(t, p, "pid"), do(t, p, "pid"); first != second {
		t.Error("the worker is not kept between jobs")
	}
	if r := l.Row(key); r.Attempt != 6 || r.State != record.JobDone {
		t.Errorf("recorded %+v", r)
	}
}

func TestProgressIsPassedOn(t *testing.T) {
	p, _ := pool(t, nil)
	var got []string
	_, _, err := run(t.Context(), p, job("steps"), hearer{progress: func(done, total int, what string) {
		got = append(got, strconv.Itoa(done)+"/"+strconv.Itoa(total)+" "+what)
	}})
	if want := "1/3 step 1,2/3 step 2,3/3 step 3"; err != nil || strings.Join(got, ",") != want {
		t.Errorf("progress %v, %v", got, err)
	}
}

func TestHandlerErrorsKeepTheirKind(t *testing.T) {
	p, l := pool(t, nil)
	for _, test := range []struct {
		payload, text string
		kind          idrl.Kind
	}{
		{"invalid no such environment", "no such environment", idrl.Invalid},
		{"fail matrix is singular", "matrix is singular", idrl.Internal},
	} {
		_, _, err := run(t.Context(), p, job(test.payload), hearer{})
		if err == nil || idrl.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.payload, err)
		}
	}
	if n := l.Row(key).Attempt; n != 2 {
		t.Errorf("%d attempts; the same job fails the same way and is not repeated", n)
	}
}

func TestKilledWorkerIsReplaced(t *testing.T) {
	p, l := pool(t, nil)
	before := do(t, p, "pid")
	if got := do(t, p, "die-once "+t.TempDir()+"/died"); got != "second" {
		t.Errorf("result %q", got)
	}
	if before == do(t, p, "pid") {
		t.Error("the dead worker answers")
	}
	if ends := l.Row(key).Ends; len(ends) != 4 || !strings.Contains(ends[1], "killed") || ends[2] != "" {
		t.Errorf("attempts ended %q", ends)
	}
}

// An idle worker that is killed costs the next job nothing but a start.
func TestKilledIdleWorker(t *testing.T) {
	p, _ := pool(t, nil)
	pid := must.Get(strconv.Atoi(do(t, p, "pid")))(t)
	must.Do(t, syscall.Kill(pid, syscall.SIGKILL))
	if got := do(t, p, "echo on"); got != "on" {
		t.Errorf("result %q", got)
	}
}

func TestJobThatKillsIsGivenUp(t *testing.T) {
	p, l := pool(t, nil)
	_, _, err := run(t.Context(), p, job("die"), hearer{})
	if err == nil || idrl.KindOf(err) != idrl.Internal || !strings.Contains(err.Error(), "3 times") {
		t.Errorf("error = %v", err)
	}
	if r := l.Row(key); r.Attempt != 3 || r.State != record.JobFailed {
		t.Errorf("recorded %+v", r)
	}
	if got := do(t, p, "echo on"); got != "on" {
		t.Errorf("after it: %q", got)
	}
}

func TestNonsenseCountsAsDeath(t *testing.T) {
	p, _ := pool(t, func(c *jobs.Config) { c.Attempts = 1 })
	if _, _, err := run(t.Context(), p, job("babble"), hearer{}); err == nil || !strings.Contains(err.Error(), "died") {
		t.Errorf("error = %v", err)
	}
}

func TestMissingProgram(t *testing.T) {
	p, l := pool(t, func(c *jobs.Config) { c.Command = []string{"/nowhere/tiebreak"} })
	if _, _, err := run(t.Context(), p, job(""), hearer{}); err == nil || !strings.Contains(err.Error(), "/nowhere/tiebreak") {
		t.Errorf("error = %v", err)
	}
	if r := l.Row(key); r.State == record.JobRunning {
		t.Error("the job is left running")
	}
}

// Frames that are no frames, or too large, or damaged, end the worker, and another
// does the next job.
func TestDamagedFramesEndTheWorker(t *testing.T) {
	id := "0000000000000001"
	for _, test := range []struct{ frame, says string }{
		{strings.Repeat("78", 1000), "no header of a frame"},
		{"07000000" + "ffffffff" + id, "a frame of type 7 with 4294967295 bytes is announced"},
		{"07000001" + "00000000" + id, "no header of a frame"},
		{"02000000" + "00000000" + id, "from the wrong side"},
		{"07000000" + "00000003" + id + "010203", "the body of a frame is damaged"},
		{"07000000" + "00000025" + id + strings.Repeat("00", 32) + "0261626364", "does not have the hash"},
		{"06000000" + "00000001" + id + "ff", "the body of a frame is damaged"},
	} {
		var log syncLog
		p, _ := pool(t, func(c *jobs.Config) { c.Attempts, c.Log = 1, slog.New(slog.NewTextHandler(&log, nil)) })
		_, _, err := run(t.Context(), p, job("write "+test.frame), hearer{})
		if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(log.String(), test.says) {
			t.Errorf("%s: %v; log: %s", test.frame, err, log.String())
		}
		if got := do(t, p, "echo on"); got != "on" {
			t.Errorf("after %s: %q", test.frame, got)
		}
	}
}

// Workers of another version are refused with a clear error, once: what else the pool
// would start is the same program.
func TestWorkersOfAnotherVersion(t *testing.T) {
	starts := t.TempDir() + "/starts"
	const script = `echo started >> "$1"; printf '\001\000\000\000\000\000\000\020\000\000\000\000\000\000\000\000tiebreak jobs \177\001'; cat > /dev/null`
	p, l := pool(t, func(c *jobs.Config) { c.Command = []string{"sh", "-c", script, "worker", starts} })
	for range 3 {
		_, _, err := run(t.Context(), p, job("echo on"), hearer{})
		if idrl.KindOf(err) != idrl.Conflict || !strings.Contains(err.Error(), "the other version 32513") || !strings.Contains(err.Error(), "start the server again") {
			t.Errorf("error = %v", err)
		}
	}
	if b, err := os.ReadFile(starts); err != nil || string(b) != "started\n" {
		t.Errorf("workers that started: %q, %v; want one", b, err)
	}
	if r := l.Row(key); r.State != record.JobQueued || string(r.Payload) != "echo on" {
		t.Errorf("recorded %+v: a server of the right version could do the job", r)
	}
}

func TestResultsTooLargeToHandOver(t *testing.T) {
	p, _ := pool(t, nil)
	before := do(t, p, "pid")
	if _, _, err := run(t.Context(), p, job("large"), hearer{}); err == nil || !strings.Contains(err.Error(), "at most 16 MiB") {
		t.Errorf("error = %v", err)
	}
	if do(t, p, "pid") != before {
		t.Error("the worker was ended, though it said what is wrong")
	}
}

// A worker whose results are in good order and false is replaced.
func TestRejectedResultEndsTheWorker(t *testing.T) {
	p, _ := pool(t, nil)
	r, done, err := run(t.Context(), p, job("pid"), hearer{})
	if err != nil {
		t.Fatal(err)
	}
	done.Reject(errors.New("it shows a clip that is not there"))
	if do(t, p, "pid") == r {
		t.Error("the worker is kept")
	}
}

// A worker that heeds cancellation is kept; one that does not is killed.
func TestCancel(t *testing.T) {
	for _, test := range []struct {
		payload string
		kept    bool
	}{{"wait", true}, {"deaf", false}} {
		t.Run(test.payload, func(t *testing.T) {
			p, l := pool(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pid := 0
			_, _, err := run(ctx, p, job(test.payload), hearer{progress: func(n, _ int, _ string) { pid = n; cancel() }})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v", err)
			}
			if kept := do(t, p, "pid") == strconv.Itoa(pid); kept != test.kept {
				t.Errorf("worker kept: %t, want %t", kept, test.kept)
			}
			if r := l.Row(key); r.Ends[0] == "" || r.State == record.JobRunning {
				t.Errorf("recorded %+v", r)
			}
		})
	}
}

func TestStoppedWorkerIsNoticed(t *testing.T) {
	p, l := pool(t, func(c *jobs.Config) { c.Silence, c.Attempts = 2500*time.Millisecond, 1 })
	_, _, err := run(t.Context(), p, job("deaf"), hearer{progress: func(pid, _ int, _ string) {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "no sign of life") {
		t.Errorf("error = %v", err)
	}
	if r := l.Row(key); r.State == record.JobRunning {
		t.Error("the job is left running")
	}
}

// Whoever lost the lease gets no result and learns it from the next beat.
func TestFencedAttempt(t *testing.T) {
	p, l := pool(t, nil)
	_, _, err := run(t.Context(), p, job("wait"), hearer{progress: func(int, int, string) { l.Fence(true) }})
	if idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("error = %v", err)
	}
	l.Interrupt()
	if _, _, err := run(t.Context(), p, job("echo late"), hearer{}); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("a fenced result was delivered: %v", err)
	}
}

func TestClose(t *testing.T) {
	p, _ := pool(t, nil)
	ended := make(chan error, 1)
	began := make(chan struct{})
	go func() {
		_, _, err := run(context.Background(), p, job("wait"), hearer{progress: func(int, int, string) { close(began) }})
		ended <- err
	}()
	waittest.For(t, began, "the job to begin")
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := waittest.For(t, ended, "the job under way to end"); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("job under way: %v", err)
	}
	if _, _, err := run(t.Context(), p, job(""), hearer{}); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("job after it: %v", err)
	}
}

func TestPriorityOfWorkers(t *testing.T) {
	p, _ := pool(t, nil)
	yields := "19 GOMAXPROCS=4"
	if runtime.GOOS == "linux" {
		yields += ", every thread idle"
	}
	for _, test := range []struct {
		job  jobs.Job
		want string
	}{
		{jobs.Job{Work: time.Second, Like: "short"}, "0 GOMAXPROCS=4"},
		{jobs.Job{Work: time.Minute, Like: "long"}, "5 GOMAXPROCS=4"},
		{jobs.Job{Work: time.Minute, Like: "soon", Soon: true}, "0 GOMAXPROCS=4"},
		{jobs.Job{Work: time.Minute, Like: "yields", Yields: true}, yields},
	} {
		test.job.JobKey, test.job.Payload = key, []byte("nice")
		got, _, err := run(t.Context(), p, test.job, hearer{})
		if got, _, _ := strings.Cut(got, ", thread"); err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.job.Like, got, err, test.want)
		}
	}
}

func TestWorkersAtWorkSideBySide(t *testing.T) {
	p, _ := pool(t, func(c *jobs.Config) { c.Workers = 2 })
	meet := make(chan int, 2)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for k := range 2 {
		wg.Go(func() {
			j := job("wait")
			j.Session = idrl.SessionID(strconv.Itoa(k))
			_, _, err := run(ctx, p, j, hearer{progress: func(pid, _ int, _ string) { meet <- pid }})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	if a, b := <-meet, <-meet; a == b {
		t.Error("one worker does both jobs")
	}
	cancel()
	wg.Wait()
}

// The urgent job of a session does not wait for the other one of another.
func TestUrgentJobsDoNotWait(t *testing.T) {
	p, _ := pool(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan bool, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		j := job("wait")
		j.Session = "0"
		_, _, err := run(ctx, p, j, hearer{progress: func(int, int, string) { began <- true }})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	waittest.For(t, began, "the job to begin")
	j := job("pid")
	j.Session, j.Priority = "1", record.Urgent
	if _, _, err := run(ctx, p, j, hearer{}); err != nil {
		t.Error(err)
	}
	cancel()
	wg.Wait()
}

func TestWorkersComplaintsAreLogged(t *testing.T) {
	var log strings.Builder
	p, _ := pool(t, func(c *jobs.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	do(t, p, "complain the disk is slow")
	if err := p.Close(); err != nil { // after it the log is complete
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "the disk is slow") {
		t.Errorf("log: %s", log.String())
	}
}

// A Go program that dies says so in hundreds of lines.
func TestTraceOfADeathIsCutShort(t *testing.T) {
	var log syncLog
	p, _ := pool(t, func(c *jobs.Config) { c.Attempts, c.Log = 1, slog.New(slog.NewTextHandler(&log, nil)) })
	if _, _, err := run(t.Context(), p, job("panic"), hearer{}); err == nil {
		t.Fatal("the worker lives")
	}
	lines := strings.Count(log.String(), "\n")
	if lines > 25 || !strings.Contains(log.String(), "out of coffee") || !strings.Contains(log.String(), "lines_left_out") {
		t.Errorf("%d lines: %s", lines, log.String())
	}
}

// syncLog is a log that a process may still write to while it is read.
type syncLog struct {
	mu sync.Mutex // guards b
	b  strings.Builder
}

func (l *syncLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *syncLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
