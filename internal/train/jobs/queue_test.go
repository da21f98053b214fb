//go:build unix

package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
)

// line runs jobs that are to stand in a queue in the order in which they are added.
type line struct {
	t     *testing.T
	p     *jobs.Pool
	group sync.WaitGroup
	ended chan struct{} // receives when a job has ended
	store finished
}

// finished notes the order in which workers finish jobs. The order in which their
// callers hear of it is a matter of chance.
type finished struct {
	jobstest.Store
	mu    sync.Mutex // guards order
	order []string   // sessions
}

func (f *finished) EndJob(ctx context.Context, a record.JobAttempt, now time.Time, state record.JobState, why string) error {
	if state == record.JobDone {
		f.mu.Lock()
		f.order = append(f.order, string(a.Session))
		f.mu.Unlock()
	}
	return f.Store.EndJob(ctx, a, now, state, why)
}

// of returns a long job of a session. Those of sessions whose names have the same first word
// take about as long.
func of(session string, priority record.Priority, payload string) jobs.Job {
	return jobs.Job{
		JobKey: record.JobKey{Session: idrl.SessionID(session), Kind: "train"}, Priority: priority, Yields: strings.HasPrefix(session, "yields"), Like: strings.Fields(session)[0], Work: time.Minute, Payload: []byte(payload),
	}
}

// newLine returns a line that waits for its jobs before the pool is closed.
func newLine(t *testing.T, workers int) *line {
	l := &line{t: t, ended: make(chan struct{}, 100)}
	l.p, _ = pool(t, func(c *jobs.Config) { c.Store, c.Workers = &l.store, workers })
	t.Cleanup(l.group.Wait)
	return l
}

// hold has a worker wait until it is told to go on. It returns when it does.
func (l *line) hold(session string, priority record.Priority) (goOn context.CancelFunc) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	began := make(chan struct{})
	l.group.Go(func() {
		_, _, err := run(ctx, l.p, of(session, priority, "wait"), hearer{progress: func(int, int, string) { close(began) }})
		if !errors.Is(err, context.Canceled) {
			l.t.Errorf("%s: %v", session, err)
		}
	})
	waittest.For(l.t, began, "the job to begin")
	return cancel
}

// add queues a job and returns when it has heard of its place, and the channel of
// what it hears later.
func (l *line) add(session string, priority record.Priority, payload string) (idrl.Outlook, <-chan idrl.Outlook) {
	l.t.Helper()
	heard := make(chan idrl.Outlook, 100)
	l.group.Go(func() {
		_, _, err := run(l.t.Context(), l.p, of(session, priority, payload), hearer{outlook: func(o idrl.Outlook) { heard <- o }})
		if err != nil {
			l.t.Errorf("%s: %v", session, err)
		}
		l.ended <- struct{}{}
	})
	return <-heard, heard
}

// Of jobs that take equally long, the first comes first.
func TestFirstComeFirstServed(t *testing.T) {
	for _, priority := range []record.Priority{record.Urgent, record.Background} {
		l := newLine(t, 1)
		goOn := []context.CancelFunc{l.hold("h1", priority)}
		if priority == record.Urgent { // these have all workers
			goOn = append(goOn, l.hold("h2", priority), l.hold("h3", priority))
		}
		var want []string
		for k := range 6 {
			session := strconv.Itoa(k)
			o, _ := l.add(session, priority, "echo")
			if w := (idrl.Outlook{Waiting: true, Ahead: len(goOn) + k}); o != w {
				t.Errorf("priority %d: outlook of job %d: %+v, want %+v", priority, k, o, w)
			}
			want = append(want, session)
		}
		goOn[0]() // one worker does all
		if got := l.order(6); !slices.Equal(got, want) {
			t.Errorf("priority %d: ended in the order %v", priority, got)
		}
		for _, f := range goOn {
			f()
		}
	}
}

// order waits for n more jobs and returns the sessions of the last n that workers
// finished, in that order.
func (l *line) order(n int) []string {
	for range n {
		<-l.ended
	}
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return slices.Clone(l.store.order[len(l.store.order)-n:])
}

// Jobs that yield wait until no other job of their priority does.
func TestJobsThatYield(t *testing.T) {
	l := newLine(t, 1)
	goOn := l.hold("h", record.Background)
	for k, session := range []string{"yields 1", "a", "yields 2", "b"} {
		want := []int{1, 1, 3, 2}[k] // ahead of it
		if o, _ := l.add(session, record.Background, "echo"); o != (idrl.Outlook{Waiting: true, Ahead: want}) {
			t.Errorf("%s: outlook %+v, want %d jobs ahead of it", session, o, want)
		}
	}
	goOn()
	if got, want := l.order(4), []string{"a", "b", "yields 1", "yields 2"}; !slices.Equal(got, want) {
		t.Errorf("ended in the order %v, want %v", got, want)
	}
}

// A job that yields makes room for another one that would have to wait, though not for one
// that yields too, and is begun anew behind it. Its caller hears of that, and of no error.
func TestJobsMakeRoom(t *testing.T) {
	l := newLine(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{}, 10)
	l.group.Go(func() {
		_, _, err := run(ctx, l.p, of("yields", record.Background, "wait"), hearer{progress: func(int, int, string) { began <- struct{}{} }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the job that made room: %v", err)
		}
	})
	waittest.For(t, began, "the job to begin")
	l.add("yields, too", record.Background, "echo")
	l.add("a", record.Background, "echo")
	if got, want := l.order(2), []string{"a", "yields, too"}; !slices.Equal(got, want) {
		t.Errorf("ended in the order %v, want %v", got, want)
	}
	waittest.For(t, began, "the job to begin again")
	cancel()
}

func TestRetryWaitsForItsTurn(t *testing.T) {
	l := newLine(t, 1)
	goOn := l.hold("h", record.Background)
	l.add("dies once", record.Background, "die-once "+t.TempDir()+"/died")
	l.add("next", record.Background, "echo")
	goOn()
	if got, want := l.order(2), []string{"next", "dies once"}; !slices.Equal(got, want) {
		t.Errorf("ended in the order %v, want %v", got, want)
	}
}

// A worker for all jobs that has nothing to do takes an urgent job, in a process that
// has not lowered its priority.
func TestIdleWorkersTakeUrgentJobs(t *testing.T) {
	l := newLine(t, 1)
	lowered, _, err := run(t.Context(), l.p, of("low", record.Background, "pid"), hearer{})
	if err != nil {
		t.Fatal(err)
	}
	goOn := l.hold("h", record.Urgent)
	defer goOn()
	r, _, err := run(t.Context(), l.p, of("s", record.Urgent, "pid"), hearer{})
	if err != nil {
		t.Fatal(err)
	}
	if r == lowered {
		t.Error("an urgent job was done at low priority")
	}
	if got := do(t, l.p, "pid"); got == lowered {
		t.Error("a short job was done at low priority")
	}
}

// Where both kinds wait, a worker for all jobs goes on with those that only it does.
func TestUrgentJobsDoNotHoldUpOthers(t *testing.T) {
	l := newLine(t, 1)
	goOn := l.hold("h1", record.Background)
	defer l.hold("h2", record.Urgent)() // with h3 these have all workers
	defer l.hold("h3", record.Urgent)()
	for _, of := range []struct {
		session  string
		priority record.Priority
	}{{"first", record.Urgent}, {"other", record.Background}} {
		if o, _ := l.add(of.session, of.priority, "echo"); !o.Waiting {
			t.Errorf("%s does not wait: %+v", of.session, o)
		}
	}
	goOn()
	if got, want := l.order(2), []string{"other", "first"}; !slices.Equal(got, want) { // one worker does both
		t.Errorf("ended in the order %v, want %v", got, want)
	}
}

func TestOutlookTellsTheTime(t *testing.T) {
	l := newLine(t, 1)
	goOn := l.hold("like h1", record.Background)
	o, heard := l.add("like a", record.Background, "echo")
	if !o.Waiting || !o.Ready.IsZero() {
		t.Errorf("outlook before any job like it was done: %+v", o)
	}
	goOn()
	l.order(1) // now it is known how long one takes
	if o = <-heard; o.Waiting || !o.Ready.IsZero() {
		t.Errorf("outlook when it began: %+v", o)
	}
	before := time.Now()
	goOn = l.hold("like h2", record.Background) // now such jobs are short, and have any worker
	defer l.hold("like h3", record.Background)()
	defer l.hold("like h4", record.Background)()
	o, heard = l.add("like b", record.Background, "echo")
	if !o.Waiting || o.Ahead != 3 || o.Ready.Before(before) || o.Ready.After(time.Now().Add(time.Minute)) {
		t.Errorf("outlook at %v: %+v", before, o)
	}
	goOn()
	l.order(1)
	for o.Waiting {
		o = <-heard
	}
	if o.Ready.Before(before) || o.Ready.After(time.Now().Add(time.Minute)) {
		t.Errorf("outlook of a job under way: %+v", o)
	}
}

func TestAbandonedJobsLeaveTheQueue(t *testing.T) {
	l := newLine(t, 1)
	goOn := l.hold("h", record.Background)
	ctx, cancel := context.WithCancel(t.Context())
	queued := make(chan idrl.Outlook, 10)
	ended := make(chan error, 1)
	go func() {
		_, _, err := run(ctx, l.p, of("abandoned", record.Background, "echo"), hearer{outlook: func(o idrl.Outlook) { queued <- o }})
		ended <- err
	}()
	waittest.For(t, queued, "the job to be queued")
	_, heard := l.add("next", record.Background, "echo")
	cancel()
	if err := waittest.For(t, ended, "the abandoned job to end"); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if o := waittest.For(t, heard, "the outlook of the next job"); o.Ahead != 1 {
		t.Errorf("outlook after one before it has left: %+v", o)
	}
	goOn()
	if got := l.order(1); got[0] != "next" {
		t.Errorf("ended: %s", got)
	}
}

// Sessions that want the worker again as soon as they have had it take turns.
func TestSessionsTakeTurns(t *testing.T) {
	type turn struct {
		session string
		end     context.CancelFunc
	}
	l := newLine(t, 1)
	began, queued := make(chan turn), make(chan string, 100)
	const rounds = 3
	play := func(session string) {
		l.group.Go(func() {
			for range rounds {
				ctx, cancel := context.WithCancel(t.Context())
				say := sync.OnceFunc(func() { queued <- session })
				_, _, err := run(ctx, l.p, of(session, record.Background, "wait"), hearer{
					outlook:  func(o idrl.Outlook) { say() },
					progress: func(int, int, string) { began <- turn{session, cancel} },
				})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", session, err)
				}
			}
		})
	}
	play("a")
	now := waittest.For(t, began, "the first job to begin")
	for _, other := range []string{"b", "c"} {
		play(other)
		for <-queued != other { // a has told of itself
		}
	}
	got := []string{now.session}
	for k := 1; k < 3*rounds; k++ {
		now.end()
		if len(got) <= 3*(rounds-1) {
			for <-queued != now.session { // again
			}
		}
		now = <-began
		got = append(got, now.session)
	}
	now.end()
	if want := []string{"a", "b", "c", "a", "b", "c", "a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("the worker was given to %v, want %v", got, want)
	}
}
