//go:build unix

package jobs_test

import (
	"context"
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

	"tiebreak/internal/idrl"
	"tiebreak/internal/jobs"
	"tiebreak/store"
)

var _ jobs.Store = (*store.DB)(nil)

// workerEnv makes this program a worker.
const workerEnv = "TIEBREAK_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		if err := jobs.Serve(context.Background(), os.Stdin, os.Stdout, handle); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// scheduling says how this process is scheduled where that can be told.
var scheduling = func() string { return "" }

// handle does what the first word of the payload says.
func handle(ctx context.Context, payload []byte, progress idrl.Progress) ([]byte, error) {
	word, rest, _ := strings.Cut(string(payload), " ")
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
			progress(k+1, 3, "step "+strconv.Itoa(k+1))
		}
		return nil, nil
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "die-once": // rest names a file that remembers
		if _, err := os.Stat(rest); err == nil {
			return []byte("second"), nil
		}
		if err := os.WriteFile(rest, nil, 0o600); err != nil {
			return nil, err
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "wait": // says its pid, then waits to be told to stop
		progress(os.Getpid(), 0, "waiting")
		<-ctx.Done()
		return nil, ctx.Err()
	case "deaf":
		progress(os.Getpid(), 0, "deaf")
		select {}
	case "nice": // only here, so that the other tests do not starve
		if err := jobs.LowerPriority(); err != nil {
			return nil, err
		}
		prio, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
		return []byte(strconv.Itoa(20-prio) + " GOMAXPROCS=" + os.Getenv("GOMAXPROCS") + scheduling()), err // the raw call returns 20 - nice
	case "babble":
		_, err := io.WriteString(os.Stdout, "this is no line of the protocol\n")
		return nil, err
	case "large":
		return make([]byte, 16<<20+1), nil
	case "endless":
		for {
			if _, err := io.WriteString(os.Stdout, strings.Repeat("x", 1<<20)); err != nil {
				return nil, err
			}
		}
	case "announce": // rest is a header
		_, err := io.WriteString(os.Stdout, rest+"\n")
		return nil, errors.Join(err, errors.New("announced"))
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

// ledger is a jobs.Store in memory that keeps one job's history.
type ledger struct {
	mu       sync.Mutex // guards all below
	attempt  int64
	running  bool
	failures []string // one an attempt, empty if it was done
	beats    int
	fenced   bool // reports are refused
}

func (l *ledger) BeginJob(context.Context, idrl.SessionID, string, int64, time.Time, time.Time) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running {
		return 0, idrl.Errorf(idrl.Conflict, "running")
	}
	l.attempt++
	l.running = true
	return l.attempt, nil
}

func (l *ledger) BeatJob(_ context.Context, _ idrl.SessionID, _ string, _, attempt int64, _ time.Time, _, _ int, _ string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beats++
	if l.fenced || attempt != l.attempt || !l.running {
		return idrl.Errorf(idrl.Conflict, "fenced")
	}
	return nil
}

func (l *ledger) EndJob(_ context.Context, _ idrl.SessionID, _ string, _, attempt int64, _ time.Time, failure string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fenced || attempt != l.attempt || !l.running {
		return idrl.Errorf(idrl.Conflict, "fenced")
	}
	l.running = false
	l.failures = append(l.failures, failure)
	return nil
}

var key = jobs.Key{Session: "s", Kind: "train", BasedOn: 3}

// pool returns a pool of workers that are copies of this program.
func pool(t *testing.T, change func(*jobs.Config)) (*jobs.Pool, *ledger) {
	t.Helper()
	l := &ledger{}
	c := jobs.Config{
		Store: l, Command: []string{os.Args[0]},
		Env:     []string{workerEnv + "=1", "GORACE=atexit_sleep_ms=0"}, // the race detector else sleeps 1 s at the end
		Backoff: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&c)
	}
	p, err := jobs.NewPool(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, l
}

func do(t *testing.T, p *jobs.Pool, payload string) string {
	t.Helper()
	r, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte(payload)})
	if err != nil {
		t.Fatalf("%s: %v", payload, err)
	}
	return string(r.Bytes)
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
	if l.attempt != 6 || l.running {
		t.Errorf("ledger: %d attempts, running %t", l.attempt, l.running)
	}
}

func TestProgressIsPassedOn(t *testing.T) {
	p, _ := pool(t, nil)
	var got []string
	_, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte("steps"), Progress: func(done, total int, what string) {
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
		_, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte(test.payload)})
		if err == nil || idrl.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.payload, err)
		}
	}
	if l.attempt != 2 {
		t.Errorf("%d attempts; the same job fails the same way and is not repeated", l.attempt)
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
	if len(l.failures) != 4 || !strings.Contains(l.failures[1], "killed") || l.failures[2] != "" {
		t.Errorf("failures %q", l.failures)
	}
}

// An idle worker that is killed costs the next job nothing but a start.
func TestKilledIdleWorker(t *testing.T) {
	p, _ := pool(t, nil)
	pid, err := strconv.Atoi(do(t, p, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := do(t, p, "echo on"); got != "on" {
		t.Errorf("result %q", got)
	}
}

func TestJobThatKillsIsGivenUp(t *testing.T) {
	p, l := pool(t, nil)
	_, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte("die")})
	if err == nil || idrl.KindOf(err) != idrl.Internal || !strings.Contains(err.Error(), "3 times") {
		t.Errorf("error = %v", err)
	}
	if l.attempt != 3 || l.running {
		t.Errorf("ledger: %d attempts, running %t", l.attempt, l.running)
	}
	if got := do(t, p, "echo on"); got != "on" {
		t.Errorf("after it: %q", got)
	}
}

func TestNonsenseCountsAsDeath(t *testing.T) {
	p, _ := pool(t, func(c *jobs.Config) { c.Attempts = 1 })
	if _, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte("babble")}); err == nil || !strings.Contains(err.Error(), "died") {
		t.Errorf("error = %v", err)
	}
}

func TestMissingProgram(t *testing.T) {
	p, l := pool(t, func(c *jobs.Config) { c.Command = []string{"/nowhere/tiebreak"} })
	if _, err := p.Do(t.Context(), jobs.Job{Key: key}); err == nil || !strings.Contains(err.Error(), "/nowhere/tiebreak") {
		t.Errorf("error = %v", err)
	}
	if l.running {
		t.Error("the job is left running")
	}
}

func TestTooLongMessagesEndTheWorker(t *testing.T) {
	for _, test := range []struct{ payload, says string }{
		{"endless", "a line is longer than 64 KiB"},
		{`announce {"id":1,"size":4000000000}`, "a message of 4000000000 bytes is announced"},
		{`announce {"id":1,"size":-1}`, "a message of -1 bytes is announced"},
	} {
		var log syncLog
		p, _ := pool(t, func(c *jobs.Config) { c.Attempts, c.Log = 1, slog.New(slog.NewTextHandler(&log, nil)) })
		_, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte(test.payload)})
		if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(log.String(), test.says) {
			t.Errorf("%s: %v; log: %s", test.payload, err, log.String())
		}
		if got := do(t, p, "echo on"); got != "on" {
			t.Errorf("after %s: %q", test.payload, got)
		}
	}
}

func TestResultsTooLargeToHandOver(t *testing.T) {
	p, _ := pool(t, nil)
	before := do(t, p, "pid")
	if _, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte("large")}); err == nil || !strings.Contains(err.Error(), "at most 16 MiB") {
		t.Errorf("error = %v", err)
	}
	if do(t, p, "pid") != before {
		t.Error("the worker was ended, though it said what is wrong")
	}
}

// A worker whose results are in good order and false is replaced.
func TestRejectedResultEndsTheWorker(t *testing.T) {
	p, _ := pool(t, nil)
	r, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte("pid")})
	if err != nil {
		t.Fatal(err)
	}
	r.Reject(errors.New("it shows a clip that is not there"))
	if do(t, p, "pid") == string(r.Bytes) {
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
			_, err := p.Do(ctx, jobs.Job{Key: key, Payload: []byte(test.payload), Progress: func(n, _ int, _ string) { pid = n; cancel() }})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v", err)
			}
			if kept := do(t, p, "pid") == strconv.Itoa(pid); kept != test.kept {
				t.Errorf("worker kept: %t, want %t", kept, test.kept)
			}
			if l.failures[0] == "" || l.running {
				t.Errorf("ledger: failures %q, running %t", l.failures, l.running)
			}
		})
	}
}

func TestStoppedWorkerIsNoticed(t *testing.T) {
	p, l := pool(t, func(c *jobs.Config) { c.Silence, c.Attempts = 2500*time.Millisecond, 1 })
	_, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte("deaf"), Progress: func(pid, _ int, _ string) {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "no sign of life") {
		t.Errorf("error = %v", err)
	}
	if l.running {
		t.Error("the job is left running")
	}
}

// Whoever lost the lease gets no result and learns it from the next beat.
func TestFencedAttempt(t *testing.T) {
	p, l := pool(t, nil)
	_, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte("wait"), Progress: func(int, int, string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.fenced = true
	}})
	if idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("error = %v", err)
	}
	if l.beats == 0 {
		t.Error("there was no beat")
	}
	l.running = false
	if _, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte("echo late")}); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("a fenced result was delivered: %v", err)
	}
}

func TestClose(t *testing.T) {
	p, _ := pool(t, nil)
	ended := make(chan error, 1)
	began := make(chan struct{})
	go func() {
		_, err := p.Do(context.Background(), jobs.Job{Key: key, Payload: []byte("wait"), Progress: func(int, int, string) { close(began) }})
		ended <- err
	}()
	<-began
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("job under way: %v", err)
	}
	if _, err := p.Do(t.Context(), jobs.Job{Key: key}); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("job after it: %v", err)
	}
}

func TestWorkersYield(t *testing.T) {
	p, _ := pool(t, nil)
	want := "19 GOMAXPROCS=4"
	if runtime.GOOS == "linux" {
		want += ", every thread idle"
	}
	if got := do(t, p, "nice"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWorkersAtWorkSideBySide(t *testing.T) {
	p, _ := pool(t, func(c *jobs.Config) { c.Workers, c.Store = 2, &perSession{} })
	meet := make(chan int, 2)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for k := range 2 {
		wg.Go(func() {
			_, err := p.Do(ctx, jobs.Job{Key: jobs.Key{Session: idrl.SessionID(strconv.Itoa(k)), Kind: "train", BasedOn: 3}, Payload: []byte("wait"), Progress: func(pid, _ int, _ string) { meet <- pid }})
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

// The first job of a session does not wait for the later one of another.
func TestFirstJobsDoNotWait(t *testing.T) {
	p, _ := pool(t, func(c *jobs.Config) { c.Store = &perSession{} })
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan bool, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := p.Do(ctx, jobs.Job{Key: jobs.Key{Session: "0", Kind: "train", BasedOn: 3}, Payload: []byte("wait"), Progress: func(int, int, string) { began <- true }})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	<-began
	if _, err := p.Do(ctx, jobs.Job{Key: jobs.Key{Session: "1", Kind: "train"}, Payload: []byte("pid")}); err != nil {
		t.Error(err)
	}
	cancel()
	wg.Wait()
}

// perSession gives every session a ledger of its own.
type perSession struct {
	mu sync.Mutex // guards l
	l  map[idrl.SessionID]*ledger
}

func (s *perSession) of(id idrl.SessionID) *ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.l == nil {
		s.l = map[idrl.SessionID]*ledger{}
	}
	if s.l[id] == nil {
		s.l[id] = &ledger{}
	}
	return s.l[id]
}

func (s *perSession) BeginJob(ctx context.Context, id idrl.SessionID, kind string, b int64, now, lease time.Time) (int64, error) {
	return s.of(id).BeginJob(ctx, id, kind, b, now, lease)
}

func (s *perSession) BeatJob(ctx context.Context, id idrl.SessionID, kind string, b, attempt int64, lease time.Time, done, total int, what string) error {
	return s.of(id).BeatJob(ctx, id, kind, b, attempt, lease, done, total, what)
}

func (s *perSession) EndJob(ctx context.Context, id idrl.SessionID, kind string, b, attempt int64, now time.Time, failure string) error {
	return s.of(id).EndJob(ctx, id, kind, b, attempt, now, failure)
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
	if _, err := p.Do(t.Context(), jobs.Job{Key: key, Payload: []byte("panic")}); err == nil {
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
