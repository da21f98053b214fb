package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A run is one attempt at a job.
type run struct {
	pool     *Pool
	w        *worker
	t        *ticket
	id       record.JobAttempt
	last     Progress
	recorded time.Time     // when the store last heard of it
	handed   int           // bytes of artefacts
	before   time.Duration // processor time of the process before the job
}

// attempt has worker w do the job of t as the store has it, and records how the attempt
// ended. It returns an error that wraps errDied if the worker died.
func (p *Pool) attempt(ctx context.Context, w *worker, t *ticket) (Done, error) {
	now := time.Now()
	job, id, err := p.c.Store.BeginJob(ctx, t.job.JobKey, now, now.Add(p.c.Lease()))
	if err != nil {
		return Done{}, err
	}
	t.emit(Began{Attempt: id.Attempt, Resumed: job.Checkpoint != nil})
	p.tell(t)
	r := &run{pool: p, w: w, t: t, id: id, recorded: now}
	done, err := r.do(ctx, job)
	state, why := record.JobDone, ""
	if err != nil {
		state, why = t.endState(err), err.Error()
	}
	// Recorded even if ctx is done. If another attempt has begun this result is
	// not wanted any more.
	end := p.c.Store.EndJob(context.WithoutCancel(ctx), id, time.Now(), state, why)
	if err == nil && end != nil {
		return Done{}, end
	}
	return done, err
}

// endState returns the state of a job that err has ended: one that was interrupted can
// go on, unless its workers keep dying.
func (t *ticket) endState(err error) record.JobState {
	switch {
	case errors.Is(err, errLost) && t.spare, errors.Is(err, errDied) && !t.last,
		errors.Is(err, errVersion), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return record.JobQueued
	}
	return record.JobFailed
}

// Lease is how long the lease of a job lasts from its start, or from the last sign of life that was recorded. It outlasts a worker
// that has fallen silent.
func (c Config) Lease() time.Duration { return 2*or(c.Silence, time.Minute) + grace }

// ready makes sure that the worker has a process of the level of the job.
func (r *run) ready() error {
	w, c, at := r.w, r.pool.c, r.t.level
	if w.place != nil {
		if !w.alive() {
			return w.kill("it left")
		}
		return nil
	}
	if w.alive() && w.level > at {
		_ = w.kill("it cannot raise its priority again")
	}
	if !w.alive() {
		to, err := startProcess(c.Command, c.Env, c.Log)
		if err != nil {
			return fmt.Errorf("%w: %w", errDied, err)
		}
		w.process, w.level = newProcess(to), normal
	}
	id, _ := w.to.pid()
	if w.level < at {
		w.level = at
		if err := lower(id, at); err != nil && w.alive() {
			c.Log.Warn("a worker keeps its priority", "err", err)
		}
	}
	r.before, _ = processorTime(id)
	return nil
}

// measure notes the processor time that the job has used; where that is not known, the time
// that it was not paused.
func (r *run) measure() {
	now := time.Now()
	id, here := r.w.to.pid()
	all, ok := time.Duration(0), false
	if here {
		all, ok = processorTime(id)
	}
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if ok {
		r.t.used = all - r.before
	} else {
		r.t.used = r.t.active(now)
	}
}

func (r *run) do(ctx context.Context, job record.JobRecord) (Done, error) {
	if err := r.ready(); err != nil {
		return Done{}, err
	}
	var err error
	if job.Payload, err = r.t.job.Given(ctx, job.Payload); err != nil {
		return Done{}, err
	}
	if err := r.hand(); err != nil {
		return Done{}, r.w.kill("its files cannot be handed over: " + err.Error())
	}
	r.w.lastID++
	sent := r.w.send(frame{kind: typeStart, id: r.w.lastID, body: encodeJob(job)})
	again := time.NewTicker(tellEvery)
	defer again.Stop()
	silence := time.NewTimer(r.pool.c.Silence)
	defer silence.Stop()
	for {
		select {
		case err := <-sent:
			sent = nil
			if err != nil {
				return Done{}, r.w.kill("its input is closed")
			}
		case f, ok := <-r.w.frames:
			if !ok {
				return Done{}, r.w.kill("it ended")
			}
			if f.id != r.w.lastID {
				continue // of a job that was stopped
			}
			silence.Reset(r.pool.c.Silence)
			if f.kind == typeEnd {
				r.measure()
				return Done{Rejected: r.rejecter()}, decodeEnd(f.body)
			}
			if err := r.take(ctx, f); err != nil {
				return Done{}, err
			}
		case <-silence.C:
			return Done{}, r.w.kill(fmt.Sprintf("no sign of life for %v", r.pool.c.Silence))
		case <-ctx.Done():
			r.cancel()
			return Done{}, ctx.Err()
		case paused := <-r.t.turn:
			kind := typeResume
			if paused {
				kind = typePause
			}
			r.w.send(frame{kind: kind, id: r.w.lastID}) // if it fails, the process is gone
			r.pool.tell(r.t)
		case <-again.C:
			r.pool.tell(r.t)
		}
	}
}

// rejecter returns a function that ends the process of the worker.
func (r *run) rejecter() func(error) {
	by, place, log := r.w.process, r.w.place, r.pool.c.Log
	return func(why error) {
		log.Warn("worker ended: its result was refused", "worker", place.name(), "err", why)
		place.refused(why)
		by.abandon()
	}
}

// take passes on what a frame reports, and renews the lease. If it returns an error the
// job is stopped, or the process killed.
func (r *run) take(ctx context.Context, f frame) error {
	if err := r.report(f); err != nil {
		r.w.place.refused(err)
		return r.w.kill(err.Error())
	}
	if err := r.record(ctx, f); err != nil {
		r.cancel()
		return err
	}
	return nil
}

// report passes on what a frame reports. It returns an error if the frame is damaged.
func (r *run) report(f frame) (err error) {
	switch f.kind {
	case typeProgress:
		r.last, err = decodeProgress(f.body)
		if err == nil {
			r.t.emit(r.last)
		}
	case typeArtefact:
		var a Artefact
		if a, err = decodeArtefact(f.body); err == nil {
			r.handed += len(a.Bytes)
			err = CheckArtefact(a.Name, len(a.Bytes), r.handed)
		}
		if err == nil {
			r.t.emit(a)
		}
	default: // a sign of life, or a checkpoint, which is recorded first
	}
	return err
}

// beat returns how often the progress of a job is recorded at most: once a second, and less often where many jobs are done, so
// that all together make a hundred records a second.
func (p *Pool) beat() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(beatEvery, time.Duration(len(p.workers)-len(p.idle))*10*time.Millisecond)
}

// record records a checkpoint at once, and progress as often as beat says.
func (r *run) record(ctx context.Context, f frame) error {
	store, now := r.pool.c.Store, time.Now()
	if f.kind == typeCheckpoint {
		err := store.SaveJob(ctx, r.id, f.body)
		if err == nil {
			r.t.emit(Checkpoint{f.body})
		}
		return passing(err)
	}
	if now.Sub(r.recorded) < min(r.pool.beat(), r.pool.c.Lease()/4) {
		return nil
	}
	r.recorded = now
	r.measure()
	return passing(store.BeatJob(ctx, r.id, now.Add(r.pool.c.Lease()), record.JobProgress(r.last)))
}

// passing returns nil for an error of a store that cannot write now: the lease
// outlasts many beats, and a checkpoint may be lost.
func passing(err error) error {
	if idrl.KindOf(err) == idrl.Unavailable {
		return nil
	}
	return err
}

// cancel stops the job, and the process if that does not stop the job in time.
func (r *run) cancel() {
	sent := r.w.send(frame{kind: typeCancel, id: r.w.lastID})
	late := time.NewTimer(grace)
	defer late.Stop()
	for {
		select {
		case err := <-sent:
			sent = nil
			if err != nil {
				_ = r.w.kill("its input is closed")
				return
			}
		case f, ok := <-r.w.frames:
			if !ok || f.id == r.w.lastID && f.kind == typeEnd {
				if !ok {
					_ = r.w.kill("it ended")
				}
				return
			}
		case <-late.C:
			_ = r.w.kill("it did not stop")
			return
		}
	}
}
