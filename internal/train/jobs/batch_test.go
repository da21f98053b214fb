package jobs_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
)

// slots is a Starter that begins a job when the test says so, and ends it at once.
type slots struct {
	started chan idrl.SessionID
	begin   chan struct{}
}

func (s *slots) Start(ctx context.Context, job jobs.Job) iter.Seq2[jobs.Event, error] {
	return func(yield func(jobs.Event, error) bool) {
		s.started <- job.Session
		select {
		case <-s.begin:
		case <-ctx.Done():
			yield(nil, ctx.Err())
			return
		}
		_ = yield(jobs.Began{Attempt: 1}, nil) && yield(jobs.NewArtefact("a", nil), nil) && yield(jobs.NewArtefact("a", []byte{1}), nil) && yield(jobs.Done{}, nil)
	}
}

// A few jobs of a batch wait for a worker; the others are started when those have begun. Each has a
// session of its own.
func TestBatchStartsWhatIsTaken(t *testing.T) {
	const all, waiting = 20, 8
	s := &slots{started: make(chan idrl.SessionID, all), begin: make(chan struct{})}
	b := jobs.NewBatch(s)
	var group sync.WaitGroup
	for range all {
		group.Go(func() {
			if err := b.Do(t.Context(), jobs.Job{}, "a", nil, func(b []byte) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	sessions := map[idrl.SessionID]bool{}
	next := func() { sessions[waittest.For(t, s.started, "a job to be started")] = true }
	for range waiting {
		next()
	}
	for k := range all {
		if n := len(s.started); n > 0 {
			t.Errorf("%d jobs begun, and %d more than %d wait", k, n, waiting)
		}
		s.begin <- struct{}{}
		if k < all-waiting {
			next()
		}
	}
	group.Wait()
	if len(sessions) != all {
		t.Errorf("%d sessions of %d jobs", len(sessions), all)
	}
}

// Jobs that wait, for a worker or to be started, end with their context.
func TestBatchWaitsForItsContext(t *testing.T) {
	s := &slots{started: make(chan idrl.SessionID, 8), begin: make(chan struct{})}
	b := jobs.NewBatch(s)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			if err := b.Do(ctx, jobs.Job{}, "a", nil, nil); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	for range 8 {
		waittest.For(t, s.started, "a job to be started")
	}
	cancel()
	group.Wait()
}

// echo does jobs of a kind: their payloads are the results.
type echo struct{ name string }

func (e echo) Do(_ context.Context, job record.JobRecord, to jobs.Reporter) error {
	to.Progress(1, 2, "echoing")
	if string(job.Payload) == "fail" {
		return idrl.Errorf(idrl.Conflict, "it failed")
	}
	return to.Artefact(e.name, job.Payload)
}

func (echo) Forget(idrl.SessionID) {}

func TestBatchResults(t *testing.T) {
	b := jobs.NewBatch(jobstest.Memory{Store: &jobs.Rows{}, Handler: jobs.Kinds{"one": echo{"a"}, "two": echo{"b"}}})
	for _, test := range []struct {
		kind, payload string
		of            idrl.Kind
		says          string // empty: it works
	}{
		{"one", "good", 0, ""},
		{"one", "bad", idrl.Internal, "cannot be used: it is not good"},
		{"one", "fail", idrl.Conflict, "it failed"},
		{"two", "good", idrl.Internal, `no artefact "a"`},
		{"three", "good", idrl.Invalid, `no jobs of kind "three"`},
	} {
		var heard []jobs.Progress
		got := ""
		err := b.Do(t.Context(), jobs.Job{JobKey: record.JobKey{Kind: test.kind}, Payload: []byte(test.payload)}, "a",
			func(p jobs.Progress) { heard = append(heard, p) }, func(b []byte) error {
				if got = string(b); got != "good" {
					return idrl.Errorf(idrl.Invalid, "it is not good")
				}
				return nil
			})
		if test.says == "" && (err != nil || got != "good" || len(heard) != 1 || heard[0].What != "echoing") {
			t.Errorf("%s of %s: %q, %v, heard %v", test.payload, test.kind, got, err, heard)
		}
		if test.says != "" && (err == nil || idrl.KindOf(err) != test.of || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s of %s: %v, want kind %d and %q", test.payload, test.kind, err, test.of, test.says)
		}
	}
}

// rejects is a Starter whose jobs hand over nothing.
type rejects struct{ why error }

func (r *rejects) Start(context.Context, jobs.Job) iter.Seq2[jobs.Event, error] {
	return func(yield func(jobs.Event, error) bool) {
		_ = yield(jobs.NewArtefact("a", []byte{1}), nil) && yield(jobs.Began{Attempt: 2}, nil) && yield(jobs.Done{Rejected: func(why error) { r.why = why }}, nil)
	}
}

// What a worker handed over that died then is no result; one without a result is replaced.
func TestBatchRejects(t *testing.T) {
	r := &rejects{}
	err := jobs.NewBatch(r).Do(t.Context(), jobs.Job{}, "a", nil, func([]byte) error { return nil })
	if err == nil || !errors.Is(r.why, err) {
		t.Errorf("error %v, rejected because of %v", err, r.why)
	}
}

// forgets notes sessions that have ended.
type forgets struct {
	echo
	ended *[]idrl.SessionID
}

func (f forgets) Forget(session idrl.SessionID) { *f.ended = append(*f.ended, session) }

func TestKindsForget(t *testing.T) {
	var ended []idrl.SessionID
	jobs.Kinds{"one": forgets{ended: &ended}, "two": forgets{ended: &ended}}.Forget("s")
	if len(ended) != 2 || ended[0] != "s" {
		t.Errorf("heard of %q", ended)
	}
}
