package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/rehearsed"
	"tiebreak/internal/study/settings"
	"tiebreak/web"
)

// longRehearsal is how long a rehearsal may take.
const longRehearsal = 2 * time.Hour

// A rehearser rehearses what forms of the server are about to make, one at a time, on a server of its own with one process for
// trainings, in a temporary folder. What was asked and what came of it are kept in the database.
type rehearser struct {
	a      *app
	worker []string // as of openApp

	mu     sync.Mutex
	last   *ongoing // guarded by mu, as all of its fields: the last one that this server began; nil for none
	closed bool     // guarded by mu
	works  sync.WaitGroup
}

// An ongoing rehearsal is one that this server began.
type ongoing struct {
	state web.RehearsalState
	stop  context.CancelFunc
}

var _ web.Rehearser = (*rehearser)(nil)

// Rehearse implements web.Rehearser.
func (r *rehearser) Rehearse(ctx context.Context, ask web.Rehearsal, owner string) (string, error) {
	f := new(simulateFlags)
	if err := r.prepare(ctx, ask, f); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && r.last.state.Says != "" {
		return "", idrl.Errorf(idrl.Conflict, "another rehearsal is under way on this server; wait until it has ended, or rehearse by 'tiebreak simulate --study'")
	}
	state := web.RehearsalState{Name: rand.Text(), Owner: owner, Title: cmp.Or(ask.Spec.Title, "a session"), Asked: ask, Began: time.Now(), Says: "It begins."}
	if err := r.begun(ctx, state); err != nil {
		return "", err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), longRehearsal)
	k := &ongoing{state: state, stop: stop}
	r.last = k
	r.works.Go(func() {
		defer stop()
		r.run(ctx, k, f)
	})
	return state.Name, nil
}

// prepare sets the flags that the command line would have.
func (r *rehearser) prepare(ctx context.Context, ask web.Rehearsal, f *simulateFlags) error {
	pace := time.Duration(ask.MedianS * float64(time.Second))
	f.annotator.Expert.Right, f.annotator.Pace = ask.Right, cmp.Or(pace.Round(10*time.Millisecond), pace) // reports state it
	f.study.people, f.study.wage, f.study.file = ask.People, ask.Wage, "of the form"
	f.study.runs, f.annotator.Patience = studyRuns, 5*time.Minute
	spec := ask.Spec
	if len(ask.Entrants) > 0 {
		var err error
		if spec, f.study.entrants, err = planArena(ctx, r.a.db, r.a.envs(), spec, ask.Entrants); err != nil {
			return err
		}
		spec = spec.Clone(spec.Title, spec.Seed)
	} else if err := checkSpec(r.a.envs(), settings.Complete(spec)); err != nil {
		return err
	}
	spec.Title, f.annotator.Seed = cmp.Or(spec.Title, "a session"), spec.Seed
	return f.usual(spec)
}

// run does a rehearsal, and keeps its end.
func (r *rehearser) run(ctx context.Context, k *ongoing, f *simulateFlags) {
	report, err := r.rehearse(ctx, k, f)
	wrong := ""
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		wrong = fmt.Sprintf("The rehearsal was stopped after %v.", longRehearsal)
	case ctx.Err() != nil:
		wrong = "The rehearsal was stopped."
	case idrl.KindOf(err) == idrl.Internal && err != nil:
		r.a.log.Error("a rehearsal failed", "err", err)
		wrong = "The rehearsal failed; the log of the server says why."
	case err != nil:
		wrong = "The rehearsal failed: " + strings.TrimSuffix(err.Error(), ".") + "."
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return // the server stops: it counts as interrupted
	}
	now := time.Now()
	if err := r.ended(context.WithoutCancel(ctx), k.state.Name, wrong, report, now); err != nil {
		r.a.log.Error("the end of a rehearsal is not kept", "err", err)
	}
	k.state.Says, k.state.Wrong, k.state.Report, k.state.Ended = "", wrong, report, now
}

// rehearse does the runs of a rehearsal.
func (r *rehearser) rehearse(ctx context.Context, k *ongoing, f *simulateFlags) (report rehearsed.Report, err error) {
	server := &studyServer{plan: f.plan(), here: 1}
	if err := server.start(ctx, "", r.a.envs, r.a.log, r.worker); err != nil {
		return report, err
	}
	defer func() { err = cmp.Or(err, server.close()) }()
	var results []runResult
	for i := range f.study.runs {
		one, err := server.rehearse(ctx, f.annotator.Seed+uint64(i), func(given int) { //nolint:gosec // few
			r.mu.Lock()
			defer r.mu.Unlock()
			k.state.Says = fmt.Sprintf("%d of %d rehearsals are done; %d answers of the next.", i, f.study.runs, given)
		})
		if err != nil {
			return report, err
		}
		results = append(results, one)
	}
	return expectedOf(f.study.file, server.plan, f.study.wage, results), nil
}

// begun keeps that a rehearsal has begun.
func (r *rehearser) begun(ctx context.Context, state web.RehearsalState) error {
	asked, err := json.Marshal(state.Asked)
	if err != nil {
		return err
	}
	return r.a.db.BeginRehearsal(ctx, record.Rehearsal{Name: state.Name, Owner: state.Owner, Title: state.Title, Asked: asked, Began: state.Began})
}

// ended keeps that a rehearsal has ended: with a report, unless something is wrong.
func (r *rehearser) ended(ctx context.Context, name, wrong string, report rehearsed.Report, now time.Time) (err error) {
	var b []byte
	if wrong == "" {
		if b, err = json.Marshal(report); err != nil {
			return err
		}
	}
	return r.a.db.EndRehearsal(ctx, name, wrong, b, now)
}

// here returns the state of a rehearsal that this server began last, if it is that one.
func (r *rehearser) here(name string) (state web.RehearsalState, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil || r.last.state.Name != name {
		return state, false
	}
	return r.last.state, true
}

// Rehearsed implements web.Rehearser.
func (r *rehearser) Rehearsed(ctx context.Context, name string) (web.RehearsalState, error) {
	if state, is := r.here(name); is {
		return state, nil
	}
	kept, err := r.a.db.Rehearsal(ctx, name)
	if err != nil {
		return web.RehearsalState{}, err
	}
	state := stateOf(kept)
	if err := json.Unmarshal(kept.Asked, &state.Asked); err != nil {
		return state, fmt.Errorf("what rehearsal %s was asked for: %w", name, err)
	}
	if len(kept.Report) > 0 {
		if err := json.Unmarshal(kept.Report, &state.Report); err != nil {
			return state, fmt.Errorf("the report of rehearsal %s: %w", name, err)
		}
	}
	return state, nil
}

// Rehearsals implements web.Rehearser.
func (r *rehearser) Rehearsals(ctx context.Context, owner string) ([]web.RehearsalState, error) {
	list, err := r.a.db.Rehearsals(ctx, owner)
	var out []web.RehearsalState
	for _, kept := range list {
		state, is := r.here(kept.Name)
		if !is {
			state = stateOf(kept)
		}
		out = append(out, state)
	}
	return out, err
}

// stateOf returns the state of a rehearsal without what was asked and the report.
func stateOf(kept record.Rehearsal) web.RehearsalState {
	return web.RehearsalState{Name: kept.Name, Owner: kept.Owner, Title: kept.Title, Began: kept.Began, Ended: kept.Ended, Wrong: kept.Wrong}
}

// StopRehearsal implements web.Rehearser.
func (r *rehearser) StopRehearsal(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && r.last.state.Name == name {
		r.last.stop()
	}
	return nil // another one is not under way
}

// close stops what is under way, and waits for it.
func (r *rehearser) close() {
	r.mu.Lock()
	r.closed = true
	if r.last != nil {
		r.last.stop()
	}
	r.mu.Unlock()
	r.works.Wait()
}
