package training

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs"
	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/jobs/jobstest"
)

// A fragile environment fails in the step after so many of all instances; 0 is never.
type fragile struct {
	solid
	world *fragileWorld
	err   error
}

// solid is what clips need of an environment.
type solid interface {
	idrl.Environment
	drawing.Drawer
	idrl.Snapshotter
}

type fragileWorld struct {
	after        int64
	steps        atomic.Int64
	made, closed atomic.Int64
}

func (w *fragileWorld) new(*rand.Rand) idrl.Environment {
	w.made.Add(1)
	return &fragile{solid: pointmass.New(pointmass.Config{}), world: w}
}

func (e *fragile) Step(a idrl.Action) idrl.TimeStep {
	step := e.solid.Step(a)
	if w := e.world; w.steps.Add(1) == w.after {
		e.err = idrl.Errorf(idrl.Unavailable, "environment failed (outside-exited)")
	}
	if e.err != nil {
		step.Kind, step.Broken = idrl.Truncated, true
	}
	return step
}

func (e *fragile) Err() error { return e.err }

func (e *fragile) Close() error {
	e.world.closed.Add(1)
	return nil
}

// An environment that fails ends the training with its error, and nothing is handed over or
// remembered that lacks what failed: the next attempt gives what it gives without a failure.
// All environments are closed, whoever made them.
func TestFailingEnvironment(t *testing.T) {
	for _, solver := range []string{idrl.OwnSolver, idrl.GaitSolver} {
		train := func(after int64) (g idrl.Generation, first, second error) {
			w := &fragileWorld{after: after}
			list := envs.List{{ID: "fragile", New: w.new}}
			spec := must.Get(Complete(list, settings.Complete(idrl.SessionSpec{ID: "s1", Env: "fragile", Kind: idrl.CompareClips, Seed: 5, Solver: solver})))(t)
			model := must.Get(Model(list, spec))(t)
			w.made.Store(0)
			store, log := &jobstest.Store{}, slog.New(slog.DiscardHandler)
			h := &Handler{Envs: func() envs.List { return list }, Log: log}
			remote := &Remote{Jobs: jobstest.Memory{Store: store, Handler: h}, Records: records{store, nil}, Spec: spec, Model: model, Log: log}
			job := idrl.TrainJob{Posterior: model.Prior(), First: true}
			_, first = remote.Train(t.Context(), job)
			w.closedAll(t, solver)
			g, second = remote.Train(t.Context(), job)
			w.closedAll(t, solver)
			return g, first, second
		}
		want, _, _ := train(0)
		got, first, second := train(300)
		if first == nil || !strings.Contains(first.Error(), "outside-exited") || idrl.KindOf(first) != idrl.Unavailable {
			t.Errorf("%s: error %v, want that of the environment", solver, first)
		}
		if diff := cmp.Diff(want, got); second != nil || diff != "" {
			t.Errorf("%s: the attempt after the failure: error %v (-want +got):\n%.2000s", solver, second, diff)
		}
	}
}

// A stuck environment waits in its first step until it is interrupted.
type stuck struct {
	fragile
	waits func()
	ended chan struct{}
}

func (e *stuck) Step(a idrl.Action) idrl.TimeStep {
	step := e.fragile.Step(a)
	e.waits()
	<-e.ended
	step.Kind, step.Broken = idrl.Truncated, true
	e.err = idrl.Errorf(idrl.Unavailable, "environment failed")
	return step
}

func (e *stuck) Interrupt() { close(e.ended) }

// A training that is cancelled does not wait for environments, and closes them.
func TestCancelledTrainingInterrupts(t *testing.T) {
	w := &fragileWorld{}
	ctx, cancel := context.WithCancel(t.Context())
	list := envs.List{{ID: "stuck", New: func(layout *rand.Rand) idrl.Environment {
		return &stuck{fragile: *w.new(layout).(*fragile), waits: cancel, ended: make(chan struct{})}
	}}}
	spec := must.Get(Complete(list, settings.Complete(idrl.SessionSpec{ID: "s1", Env: "stuck", Kind: idrl.CompareClips, Seed: 5})))(t)
	model := must.Get(Model(list, spec))(t)
	w.made.Store(0)
	h := &Handler{Envs: func() envs.List { return list }, Log: slog.New(slog.DiscardHandler)}
	local := &Local{Handler: h, Spec: spec, Model: model}
	if _, err := local.Train(ctx, idrl.TrainJob{Posterior: model.Prior(), First: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	w.closedAll(t, "cancelled")
}

func (w *fragileWorld) closedAll(t *testing.T, solver string) {
	t.Helper()
	if w.made.Load() != w.closed.Load() || w.made.Load() == 0 {
		t.Errorf("%s: %d environments made in a job, %d closed", solver, w.made.Load(), w.closed.Load())
	}
}
