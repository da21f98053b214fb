package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/web"
)

// Limits of rehearsals of a server.
const (
	keptRehearsals = 20 // the oldest are forgotten
	longRehearsal  = 2 * time.Hour
)

// A rehearser rehearses what forms of the server are about to make, one at a time, on a server of its own with one process for
// trainings, in a temporary folder.
type rehearser struct {
	a      *app
	worker []string // as of openApp

	mu    sync.Mutex
	kept  []*keptRehearsal // guarded by mu, as all of their fields; the newest last
	works sync.WaitGroup
}

type keptRehearsal struct {
	name  string
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
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), longRehearsal)
	k := &keptRehearsal{name: rand.Text(), stop: stop, state: web.RehearsalState{Owner: owner, Title: cmp.Or(ask.Spec.Title, "a session"), Says: "It begins."}}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.kept {
		if other.state.Says != "" {
			stop()
			return "", idrl.Errorf(idrl.Conflict, "another rehearsal is under way on this server; wait until it has ended, or rehearse by 'tiebreak simulate --study'")
		}
	}
	r.kept = append(r.kept, k)
	r.kept = r.kept[max(0, len(r.kept)-keptRehearsals):]
	r.works.Go(func() {
		defer stop()
		r.run(ctx, k, f)
	})
	return k.name, nil
}

// prepare sets the flags that the command line would have.
func (r *rehearser) prepare(ctx context.Context, ask web.Rehearsal, f *simulateFlags) error {
	f.annotator.Expert.Right, f.annotator.Pace = ask.Right, time.Duration(ask.MedianS*float64(time.Second))
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

// run does a rehearsal.
func (r *rehearser) run(ctx context.Context, k *keptRehearsal, f *simulateFlags) {
	err := func() (err error) {
		server := &studyServer{plan: f.plan(), here: 1}
		if err := server.start(ctx, "", r.a.envs, r.a.log, r.worker); err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, server.close()) }()
		var results []runResult
		for i := range f.study.runs {
			one, err := server.rehearse(ctx, f.annotator.Seed+uint64(i), func(given int) { //nolint:gosec // few
				r.set(k, func(s *web.RehearsalState) {
					s.Says = fmt.Sprintf("%d of %d rehearsals are done; %d answers of the next.", i, f.study.runs, given)
				})
			})
			if err != nil {
				return err
			}
			results = append(results, one)
		}
		r.set(k, func(s *web.RehearsalState) { s.Report = expectedOf(f.study.file, server.plan, f.study.wage, results) })
		return nil
	}()
	r.set(k, func(s *web.RehearsalState) {
		switch s.Says = ""; {
		case ctx.Err() != nil:
			s.Wrong = "The rehearsal was stopped."
		case idrl.KindOf(err) == idrl.Internal && err != nil:
			r.a.log.Error("a rehearsal failed", "err", err)
			s.Wrong = "The rehearsal failed; the log of the server says why."
		case err != nil:
			s.Wrong = "The rehearsal failed: " + strings.TrimSuffix(err.Error(), ".") + "."
		}
	})
}

func (r *rehearser) set(k *keptRehearsal, change func(*web.RehearsalState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&k.state)
}

// find returns a rehearsal; r.mu is held.
func (r *rehearser) find(name string) (*keptRehearsal, error) {
	for _, k := range r.kept {
		if k.name == name {
			return k, nil
		}
	}
	return nil, idrl.Errorf(idrl.NotFound, "there is no rehearsal %q", name)
}

// Rehearsed implements web.Rehearser.
func (r *rehearser) Rehearsed(name string) (web.RehearsalState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, err := r.find(name)
	if err != nil {
		return web.RehearsalState{}, err
	}
	return k.state, nil
}

// StopRehearsal implements web.Rehearser.
func (r *rehearser) StopRehearsal(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, err := r.find(name)
	if err == nil {
		k.stop()
	}
	return err
}

// close stops what is under way, and waits for it.
func (r *rehearser) close() {
	r.mu.Lock()
	for _, k := range r.kept {
		k.stop()
	}
	r.mu.Unlock()
	r.works.Wait()
}
