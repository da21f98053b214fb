package jobstest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// Memory does jobs in this process, each on a goroutine of its own as soon as its
// stream is read. What a handler reports reaches the reader in order; a handler that
// panics with ErrDied counts as the death of a worker.
type Memory struct {
	Store   jobs.Store   // required
	Handler jobs.Handler // required
}

// ErrDied is what a handler panics with to play the death of its worker.
var ErrDied = errors.New("the worker died")

const attempts = 3 // of a job whose worker dies

// Forget says that a session has ended.
func (m Memory) Forget(session idrl.SessionID) { m.Handler.Forget(session) }

// Start returns the stream of a job, as jobs.Pool.Start does.
func (m Memory) Start(ctx context.Context, job jobs.Job) iter.Seq2[jobs.Event, error] {
	return func(yield func(jobs.Event, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		left := false
		emit := func(e jobs.Event) {
			if !left && !yield(e, nil) {
				left = true
				stop()
			}
		}
		err := m.attempts(ctx, job, emit)
		switch {
		case left:
		case err != nil:
			yield(nil, err)
		default:
			yield(jobs.Done{}, nil)
		}
	}
}

func (m Memory) attempts(ctx context.Context, job jobs.Job, emit func(jobs.Event)) error {
	if err := jobs.CheckSize("the payload", len(job.Payload)); err != nil {
		return idrl.Errorf(idrl.Invalid, "%v", err)
	}
	queued := record.JobRecord{JobKey: job.JobKey, Priority: job.Priority, Payload: job.Payload}
	if err := m.Store.QueueJob(ctx, queued, time.Now()); err != nil {
		return err
	}
	for k := 1; ; k++ {
		err := m.attempt(ctx, job, k == attempts, emit)
		if !errors.Is(err, ErrDied) {
			return err
		}
		if k == attempts {
			return fmt.Errorf("%d times: %w", attempts, err)
		}
	}
}

func (m Memory) attempt(ctx context.Context, of jobs.Job, last bool, emit func(jobs.Event)) error {
	now := time.Now()
	job, id, err := m.Store.BeginJob(ctx, of.JobKey, now, now.Add(time.Hour))
	if err != nil {
		return err
	}
	emit(jobs.Began{Attempt: id.Attempt, Resumed: job.Checkpoint != nil})
	if job.Payload, err = of.Given(ctx, job.Payload); err == nil {
		err = m.do(ctx, job, id, emit)
	}
	state, why := record.JobDone, ""
	if err != nil {
		state, why = record.JobFailed, err.Error()
	}
	if errors.Is(err, ErrDied) && !last || errors.Is(err, context.Canceled) {
		state = record.JobQueued
	}
	return errors.Join(err, m.Store.EndJob(context.WithoutCancel(ctx), id, time.Now(), state, why))
}

// do runs the handler and passes on what it reports, until it returns.
func (m Memory) do(ctx context.Context, job record.JobRecord, id record.JobAttempt, emit func(jobs.Event)) error {
	to := &reporter{events: make(chan jobs.Event)}
	ended := make(chan error, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				if err, ok := fault.(error); !ok || !errors.Is(err, ErrDied) {
					panic(fault)
				}
				ended <- ErrDied
			}
		}()
		ended <- m.Handler.Do(ctx, job, to)
	}()
	for {
		select {
		case err := <-ended:
			return err
		case e := <-to.events:
			if c, ok := e.(jobs.Checkpoint); ok {
				if err := m.Store.SaveJob(context.WithoutCancel(ctx), id, c.Bytes); err != nil {
					continue
				}
			}
			emit(e)
		}
	}
}

type reporter struct {
	events chan jobs.Event

	mu  sync.Mutex // guards sum
	sum int        // bytes of artefacts
}

func (r *reporter) Progress(done, total int, what string) {
	r.events <- jobs.Progress{Done: done, Total: total, What: what}
}

func (r *reporter) Artefact(name string, b []byte) error {
	r.mu.Lock()
	r.sum += len(b)
	sum := r.sum
	r.mu.Unlock()
	if err := jobs.CheckArtefact(name, len(b), sum); err != nil {
		return err
	}
	r.events <- jobs.NewArtefact(name, b)
	return nil
}

func (r *reporter) Checkpoint(b []byte) error {
	if err := jobs.CheckSize("the checkpoint", len(b)); err != nil {
		return err
	}
	r.events <- jobs.Checkpoint{Bytes: b}
	return nil
}
