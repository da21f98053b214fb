//go:build unix

package jobs_test

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// lasting returns a job of a session that is taken to need so much processor time.
func lasting(session string, work time.Duration, payload string) jobs.Job {
	return jobs.Job{JobKey: record.JobKey{Session: idrl.SessionID(session), Kind: "train"}, Like: session, Work: work, Payload: []byte(payload)}
}

// A paused is a long job that a shorter one has taken the place of. Both wait to be told to end.
type paused struct {
	events chan jobs.Event // of the long job from then on
	pid    int             // of the process that has it
	store  *finished
	pool   *jobs.Pool

	endLong, endShort context.CancelFunc
	group             sync.WaitGroup
	err               error // of the long job
}

// pause has a long job paused.
func pause(t *testing.T, change func(*jobs.Config)) *paused {
	t.Helper()
	s := &paused{events: make(chan jobs.Event, 1000), store: &finished{}}
	s.pool, _ = pool(t, func(c *jobs.Config) {
		c.Store, c.Workers = s.store, 1
		if change != nil {
			change(c)
		}
	})
	var long, short context.Context
	long, s.endLong = context.WithCancel(t.Context())
	short, s.endShort = context.WithCancel(t.Context())
	t.Cleanup(func() {
		s.endLong()
		s.endShort()
		s.group.Wait()
	})
	began, paused := make(chan int), make(chan struct{})
	s.group.Go(func() {
		atPause := sync.OnceFunc(func() { close(paused) })
		told := false
		for e, err := range s.pool.Start(long, lasting("long", time.Hour, "work")) {
			s.err = err
			if p, is := e.(jobs.Progress); is && !told {
				told = true
				began <- p.Done
			}
			if o, is := e.(jobs.Outlook); is && o.Paused {
				atPause()
			}
			select {
			case s.events <- e:
			default:
			}
		}
	})
	s.pid = <-began
	working := make(chan struct{})
	s.group.Go(func() {
		said := sync.OnceFunc(func() { close(working) })
		_, _, err := run(short, s.pool, lasting("shorter", time.Minute, "wait"), hearer{progress: func(int, int, string) { said() }})
		if !errors.Is(err, context.Canceled) && idrl.KindOf(err) != idrl.Unavailable {
			t.Errorf("the shorter job: %v", err)
		}
	})
	waittest.For(t, working, "the shorter job to work")
	waittest.For(t, paused, "the longer job to pause")
	return s
}

// await returns when the long job has reported an event for which is is true.
func (s *paused) await(is func(jobs.Event) bool) {
	for e := range s.events {
		if is(e) {
			return
		}
	}
}

// A job that is paused goes on, in the same attempt and process, when the shorter one has ended.
func TestPausedJobsGoOn(t *testing.T) {
	s := pause(t, nil)
	s.endShort()
	s.await(func(e jobs.Event) bool { o, is := e.(jobs.Outlook); return is && !o.Paused })
	s.await(func(e jobs.Event) bool { p, is := e.(jobs.Progress); return is && p.Done == s.pid })
	if r := s.store.Row(record.JobKey{Session: "long", Kind: "train"}); r.Attempt != 1 || r.State != record.JobRunning {
		t.Errorf("recorded %+v", r)
	}
}

// A job that is paused can be stopped, and waits then.
func TestPausedJobsStop(t *testing.T) {
	s := pause(t, nil)
	s.endLong()
	s.endShort()
	s.group.Wait()
	if r := s.store.Row(record.JobKey{Session: "long", Kind: "train"}); !errors.Is(s.err, context.Canceled) || r.State != record.JobQueued {
		t.Errorf("%v; recorded %+v", s.err, r)
	}
}

// A process that dies while its job is paused costs an attempt, and nothing else.
func TestPausedWorkerDies(t *testing.T) {
	s := pause(t, nil)
	must.Do(t, syscall.Kill(s.pid, syscall.SIGKILL))
	s.endShort()
	s.await(func(e jobs.Event) bool { b, is := e.(jobs.Began); return is && b.Attempt == 2 })
	s.await(func(e jobs.Event) bool { p, is := e.(jobs.Progress); return is && p.Done != s.pid })
	if ends := s.store.Row(record.JobKey{Session: "long", Kind: "train"}).Ends; len(ends) != 1 {
		t.Errorf("attempts ended %q", ends)
	}
}

// A pool is closed while a job is paused, as when the server stops: the job waits for the next
// start.
func TestCloseWhilePaused(t *testing.T) {
	s := pause(t, nil)
	if err := s.pool.Close(); err != nil {
		t.Error(err)
	}
	s.endShort()
	s.endLong()
	if r := s.store.Row(record.JobKey{Session: "long", Kind: "train"}); r.State != record.JobQueued {
		t.Errorf("recorded %+v", r)
	}
}

// A job that is paused again and again comes to the same result.
func TestPausesChangeNothing(t *testing.T) {
	const payload = "sum 3000"
	p, _ := pool(t, func(c *jobs.Config) { c.Workers = 1 })
	calm, _, err := run(t.Context(), p, lasting("calm", time.Hour, payload), hearer{})
	if err != nil {
		t.Fatal(err)
	}
	pauses, attempts, got := 0, 0, ""
	for e, err := range p.Start(t.Context(), lasting("torn", time.Hour, payload)) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case jobs.Began:
			attempts++
		case jobs.Progress:
			if e.Total%1000 != 500 {
				break
			}
			pauses++
			if _, _, err := run(t.Context(), p, lasting("shorter", time.Minute, "pid"), hearer{}); err != nil {
				t.Fatal(err)
			}
		case jobs.Artefact:
			got = string(e.Bytes)
		}
	}
	if got != calm || attempts != 1 || pauses != 3 {
		t.Errorf("%q after %d pauses and %d attempts, want %q", got, pauses, attempts, calm)
	}
}
