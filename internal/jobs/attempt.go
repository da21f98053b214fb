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
	key      Key
	attempt  int64
	last     progress
	recorded time.Time // when the store last heard of it
	tell     idrl.Progress
}

// attempt starts the job, sees it through, and records how it ended. It returns
// an error that wraps errDied if the worker died.
func (p *Pool) attempt(ctx context.Context, w *worker, key Key, payload []byte, tell idrl.Progress) ([]byte, error) {
	now := time.Now()
	n, err := p.c.Store.BeginJob(ctx, key.Session, key.Kind, key.BasedOn, now, now.Add(p.lease()))
	if err != nil {
		return nil, err
	}
	r := &run{pool: p, w: w, key: key, attempt: n, recorded: now, tell: tell}
	result, err := r.do(ctx, payload)
	failure := ""
	if err != nil {
		failure = err.Error()
	}
	// Recorded even if ctx is done. If another attempt has begun this result is
	// not wanted any more.
	end := p.c.Store.EndJob(context.WithoutCancel(ctx), key.Session, key.Kind, key.BasedOn, n, time.Now(), failure)
	if err == nil && end != nil {
		return nil, end
	}
	return result, err
}

// lease outlasts a worker that has fallen silent.
func (p *Pool) lease() time.Duration { return 2*p.c.Silence + grace }

func (r *run) do(ctx context.Context, payload []byte) ([]byte, error) {
	if !r.w.alive() {
		if err := r.w.start(r.pool.c.Command, r.pool.c.Env, r.pool.c.Log); err != nil {
			return nil, fmt.Errorf("%w: %w", errDied, err)
		}
	}
	r.w.lastID++
	sent := r.w.send(request{ID: r.w.lastID, Payload: payload})
	silence := time.NewTimer(r.pool.c.Silence)
	defer silence.Stop()
	for {
		select {
		case err := <-sent:
			sent = nil
			if err != nil {
				return nil, r.died("its input is closed")
			}
		case reply, ok := <-r.w.replies:
			if !ok {
				return nil, r.died("it ended")
			}
			if reply.ID != r.w.lastID {
				continue // of a job that was stopped
			}
			silence.Reset(r.pool.c.Silence)
			if reply.ended() {
				return result(reply)
			}
			if err := r.alive(ctx, reply.Progress); err != nil {
				r.cancel()
				return nil, err
			}
		case <-silence.C:
			return nil, r.died(fmt.Sprintf("no sign of life for %v", r.pool.c.Silence))
		case <-ctx.Done():
			r.cancel()
			return nil, ctx.Err()
		}
	}
}

func result(r reply) ([]byte, error) {
	switch {
	case r.Error == nil:
		return *r.Result, nil
	case idrl.Kind(r.Kind) == idrl.Internal:
		return nil, fmt.Errorf("in the worker: %s", *r.Error)
	default:
		return nil, idrl.Errorf(idrl.Kind(r.Kind), "%s", *r.Error)
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
		if r.tell != nil {
			r.tell(p.Done, p.Total, p.What)
		}
	}
	now := time.Now()
	if now.Sub(r.recorded) < beatEvery {
		return nil
	}
	r.recorded = now
	k := r.key
	err := r.pool.c.Store.BeatJob(ctx, k.Session, k.Kind, k.BasedOn, r.attempt, now.Add(r.pool.lease()), r.last.Done, r.last.Total, r.last.What)
	if idrl.KindOf(err) == idrl.Unavailable {
		return nil // the lease outlasts many beats
	}
	return err
}

// cancel stops the job, and the process if it does not obey.
func (r *run) cancel() {
	sent := r.w.send(request{ID: r.w.lastID, Cancel: true})
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
