//go:build unix

package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/jobs"
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
	perSession
	mu    sync.Mutex // guards order
	order []string   // sessions
}

func (f *finished) EndJob(ctx context.Context, id idrl.SessionID, kind string, b, attempt int64, now time.Time, failure string) error {
	if failure == "" {
		f.mu.Lock()
		f.order = append(f.order, string(id))
		f.mu.Unlock()
	}
	return f.perSession.EndJob(ctx, id, kind, b, attempt, now, failure)
}

// newLine returns a line that waits for its jobs before the pool is closed.
func newLine(t *testing.T, workers int) *line {
	l := &line{t: t, ended: make(chan struct{}, 100)}
	l.p, _ = pool(t, func(c *jobs.Config) { c.Store, c.Workers = &l.store, workers })
	t.Cleanup(l.group.Wait)
	return l
}

// hold has a worker wait until it is told to go on. It returns when it does.
func (l *line) hold(session string, basedOn int64) (goOn context.CancelFunc) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	began := make(chan struct{})
	l.group.Go(func() {
		_, err := l.p.Do(ctx, jobs.Job{
			Key:  jobs.Key{Session: idrl.SessionID(session), Kind: "train", BasedOn: basedOn},
			Like: "echo", Payload: []byte("wait"),
			Progress: func(int, int, string) { close(began) },
		})
		if !errors.Is(err, context.Canceled) {
			l.t.Errorf("%s: %v", session, err)
		}
	})
	<-began
	return cancel
}

// add queues a job and returns when it has heard of its place, and the channel of
// what it hears later.
func (l *line) add(session string, basedOn int64, payload string) (idrl.Outlook, <-chan idrl.Outlook) {
	l.t.Helper()
	heard := make(chan idrl.Outlook, 100)
	l.group.Go(func() {
		_, err := l.p.Do(l.t.Context(), jobs.Job{
			Key:  jobs.Key{Session: idrl.SessionID(session), Kind: "train", BasedOn: basedOn},
			Like: "echo", Payload: []byte(payload), Outlook: func(o idrl.Outlook) { heard <- o },
		})
		if err != nil {
			l.t.Errorf("%s: %v", session, err)
		}
		l.ended <- struct{}{}
	})
	return <-heard, heard
}

func TestFirstComeFirstServed(t *testing.T) {
	for _, basedOn := range []int64{0, 3} {
		l := newLine(t, 1)
		goOn := []context.CancelFunc{l.hold("h1", basedOn)}
		if basedOn == 0 { // first jobs have both workers
			goOn = append(goOn, l.hold("h2", basedOn))
		}
		var want []string
		for k := range 6 {
			session := strconv.Itoa(k)
			o, _ := l.add(session, basedOn, "echo")
			if w := (idrl.Outlook{Waiting: true, Ahead: len(goOn) + k}); o != w {
				t.Errorf("based on %d: outlook of job %d: %+v, want %+v", basedOn, k, o, w)
			}
			want = append(want, session)
		}
		goOn[0]() // one worker does all
		if got := l.order(6); !slices.Equal(got, want) {
			t.Errorf("based on %d: ended in the order %v", basedOn, got)
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

func TestRetryWaitsForItsTurn(t *testing.T) {
	l := newLine(t, 1)
	goOn := l.hold("h", 3)
	l.add("dies once", 3, "die-once "+t.TempDir()+"/died")
	l.add("next", 3, "echo")
	goOn()
	if got, want := l.order(2), []string{"next", "dies once"}; !slices.Equal(got, want) {
		t.Errorf("ended in the order %v, want %v", got, want)
	}
}

// A worker for all jobs that has nothing to do takes a first job, in a process that
// has not lowered its priority.
func TestIdleWorkersTakeFirstJobs(t *testing.T) {
	l := newLine(t, 1)
	lowered := do(t, l.p, "pid")
	goOn := l.hold("h", 0)
	defer goOn()
	r, err := l.p.Do(t.Context(), jobs.Job{Key: jobs.Key{Session: "s", Kind: "train"}, Payload: []byte("pid")})
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Bytes) == lowered {
		t.Error("a first job was done at low priority")
	}
	if got := do(t, l.p, "pid"); got != string(r.Bytes) {
		t.Error("the process was not kept for the next job")
	}
}

// Where both kinds wait, a worker for all jobs goes on with those that only it does.
func TestFirstJobsDoNotHoldUpOthers(t *testing.T) {
	l := newLine(t, 1)
	goOnFirst, goOn := l.hold("h1", 0), l.hold("h2", 3)
	l.add("first", 0, "echo")
	l.add("other", 3, "echo")
	goOn()
	if got, want := l.order(2), []string{"other", "first"}; !slices.Equal(got, want) { // one worker does both
		t.Errorf("ended in the order %v, want %v", got, want)
	}
	goOnFirst()
}

func TestOutlookTellsTheTime(t *testing.T) {
	l := newLine(t, 1)
	goOn := l.hold("h1", 3)
	o, heard := l.add("a", 3, "echo")
	if !o.Waiting || !o.Ready.IsZero() {
		t.Errorf("outlook before any job like it was done: %+v", o)
	}
	goOn()
	l.order(1) // now it is known how long one takes
	if o = <-heard; o.Waiting || !o.Ready.IsZero() {
		t.Errorf("outlook when it began: %+v", o)
	}
	before := time.Now()
	goOn = l.hold("h2", 3)
	o, heard = l.add("b", 3, "echo")
	if !o.Waiting || o.Ahead != 1 || o.Ready.Before(before) || o.Ready.After(time.Now().Add(time.Minute)) {
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
	goOn := l.hold("h", 3)
	ctx, cancel := context.WithCancel(t.Context())
	queued := make(chan idrl.Outlook, 10)
	ended := make(chan error, 1)
	go func() {
		_, err := l.p.Do(ctx, jobs.Job{
			Key: jobs.Key{Session: "abandoned", Kind: "train", BasedOn: 3}, Payload: []byte("echo"),
			Outlook: func(o idrl.Outlook) { queued <- o },
		})
		ended <- err
	}()
	<-queued
	_, heard := l.add("next", 3, "echo")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if o := <-heard; o.Ahead != 1 {
		t.Errorf("outlook after one before it has left: %+v", o)
	}
	goOn()
	if got := l.order(1); got[0] != "next" {
		t.Errorf("ended: %s", got)
	}
}
