package jobs

import (
	"context"
	"fmt"
	"time"

	"tiebreak/internal/idrl"
)

// A run is one attempt at a job.
type run struct {
	pool     *Pool
	w        *worker
	t        *ticket
	attempt  int64
	last     progress
	recorded time.Time // when the store last heard of it
}

// attempt starts the job of t, sees it through, and records how it ended. It
// returns an error that wraps errDied if the worker died.
func (p *Pool) attempt(ctx context.Context, w *worker, t *ticket) (Result, error) {
	now, job := time.Now(), t.job
	n, err := p.c.Store.BeginJob(ctx, job.Session, job.Kind, job.BasedOn, now, now.Add(p.lease()))
	if err != nil {
		return Result{}, err
	}
	p.tell(t)
	r := &run{pool: p, w: w, t: t, attempt: n, recorded: now}
	result, err := r.do(ctx)
	failure := ""
	if err != nil {
		failure = err.Error()
	}
	// Recorded even if ctx is done. If another attempt has begun this result is
	// not wanted any more.
	end := p.c.Store.EndJob(context.WithoutCancel(ctx), job.Session, job.Kind, job.BasedOn, n, time.Now(), failure)
	if err == nil && end != nil {
		return Result{}, end
	}
	return result, err
}

// lease outlasts a worker that has fallen silent.
func (p *Pool) lease() time.Duration { return 2*p.c.Silence + grace }

// ready makes sure that the worker has a process that may do the job.
func (r *run) ready() error {
	w, c := r.w, r.pool.c
	if w.alive() && w.lowered && r.t.job.first() {
		w.kill() // it cannot raise its priority again
	}
	if !w.alive() {
		p, err := start(c.Command, c.Env, c.Log)
		if err != nil {
			return fmt.Errorf("%w: %w", errDied, err)
		}
		w.process, w.lowered = p, false
	}
	w.lowered = w.lowered || !r.t.job.first()
	return nil
}

func (r *run) do(ctx context.Context) (Result, error) {
	if err := r.ready(); err != nil {
		return Result{}, err
	}
	r.w.lastID++
	size := len(r.t.job.Payload)
	sent := r.w.send(request{ID: r.w.lastID, Size: &size}, r.t.job.Payload)
	again := time.NewTicker(tellEvery)
	defer again.Stop()
	silence := time.NewTimer(r.pool.c.Silence)
	defer silence.Stop()
	for {
		select {
		case err := <-sent:
			sent = nil
			if err != nil {
				return Result{}, r.died("its input is closed")
			}
		case reply, ok := <-r.w.replies:
			if !ok {
				return Result{}, r.died("it ended")
			}
			if reply.ID != r.w.lastID {
				continue // of a job that was stopped
			}
			silence.Reset(r.pool.c.Silence)
			if reply.ended() {
				return r.result(reply)
			}
			if err := r.alive(ctx, reply.Progress); err != nil {
				r.cancel()
				return Result{}, err
			}
		case <-silence.C:
			return Result{}, r.died(fmt.Sprintf("no sign of life for %v", r.pool.c.Silence))
		case <-ctx.Done():
			r.cancel()
			return Result{}, ctx.Err()
		case <-again.C:
			r.pool.tell(r.t)
		}
	}
}

func (r *run) result(end reply) (Result, error) {
	switch {
	case end.Error == nil:
		return Result{Bytes: end.result, by: r.w.process, log: r.pool.c.Log}, nil
	case idrl.Kind(end.Kind) == idrl.Internal:
		return Result{}, fmt.Errorf("in the worker: %s", *end.Error)
	default:
		return Result{}, idrl.Errorf(idrl.Kind(end.Kind), "%s", *end.Error)
	}
}

// died makes sure that the process is gone.
func (r *run) died(how string) error {
	return fmt.Errorf("%w: %s (%s)", errDied, how, r.w.kill())
}

// alive passes progress on and renews the lease, at most once a second.
func (r *run) alive(ctx context.Context, p *progress) error {
	if p != nil {
		r.last = *p
		if tell := r.t.job.Progress; tell != nil {
			tell(p.Done, p.Total, p.What)
		}
	}
	now := time.Now()
	if now.Sub(r.recorded) < beatEvery {
		return nil
	}
	r.recorded = now
	k := r.t.job.Key
	err := r.pool.c.Store.BeatJob(ctx, k.Session, k.Kind, k.BasedOn, r.attempt, now.Add(r.pool.lease()), r.last.Done, r.last.Total, r.last.What)
	if idrl.KindOf(err) == idrl.Unavailable {
		return nil // the lease outlasts many beats
	}
	return err
}

// cancel stops the job, and the process if it does not obey.
func (r *run) cancel() {
	sent := r.w.send(request{ID: r.w.lastID, Cancel: true}, nil)
	late := time.NewTimer(grace)
	defer late.Stop()
	for {
		select {
		case err := <-sent:
			sent = nil
			if err != nil {
				r.w.kill()
				return
			}
		case reply, ok := <-r.w.replies:
			if !ok || reply.ID == r.w.lastID && reply.ended() {
				if !ok {
					r.w.kill()
				}
				return
			}
		case <-late.C:
			r.w.kill()
			return
		}
	}
}
