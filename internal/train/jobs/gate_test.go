package jobs

import (
	"context"
	"io"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
)

// A stepper reports once for each step that it is told to make.
type stepper struct {
	step   chan struct{}
	passed chan int
}

func (*stepper) Forget(idrl.SessionID) {}

func (h *stepper) Do(ctx context.Context, _ record.JobRecord, to Reporter) error {
	for k := 1; ; k++ {
		select {
		case <-h.step:
		case <-ctx.Done():
			return ctx.Err()
		}
		to.Progress(k, 0, "step")
		h.passed <- k
	}
}

// A handler waits at its report while its job is paused, and gives signs of life.
func TestReportsWaitWhilePaused(t *testing.T) {
	in, toWorker := io.Pipe()
	fromWorker, out := io.Pipe()
	h := &stepper{step: make(chan struct{}), passed: make(chan int, 10)}
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), in, out, h) }()
	send := func(f frame) {
		t.Helper()
		must.Do(t, writeFrame(toWorker, f))
	}
	heard := make(chan frame, 100)
	go func() {
		defer close(heard)
		for {
			f, err := readFrame(fromWorker, true)
			if err != nil {
				return
			}
			heard <- f
		}
	}()
	await := func(kind frameType) {
		t.Helper()
		for f := range heard {
			if f.kind == kind {
				return
			}
		}
		t.Fatalf("the worker ended before a frame of type %d", kind)
	}
	send(hello())
	send(frame{kind: typeStart, id: 1, body: encodeJob(record.JobRecord{})})
	h.step <- struct{}{}
	await(typeProgress)
	waittest.For(t, h.passed, "the first report to return")
	send(frame{kind: typePause, id: 1})
	for range 2 { // that are read after the worker has heeded the first
		send(frame{kind: typeForget, body: []byte("other")})
	}
	h.step <- struct{}{}
	await(typeProgress)
	await(typeAlive)
	await(typeAlive)
	if len(h.passed) > 0 {
		t.Error("the report has returned, though the job is paused")
	}
	send(frame{kind: typeResume, id: 1})
	if k := waittest.For(t, h.passed, "the second report to return"); k != 2 {
		t.Errorf("report %d has returned", k)
	}
	if err := toWorker.Close(); err != nil {
		t.Error(err)
	}
	if err := waittest.For(t, served, "the worker to end with its input"); err != nil {
		t.Error(err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
}
