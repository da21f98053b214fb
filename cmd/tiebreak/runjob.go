package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/session/view"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/training"
)

// runKind is the kind of jobs that are one run of a rehearsal each, and the name of the artefact that
// such a job hands over.
const runKind = "run"

// runWork is the processor time that a run is taken to need before one was done.
const runWork = 30 * time.Second

// A runRequest is the payload of such a job.
type runRequest struct {
	Plan runPlan
	Seed uint64
}

// A runResult is the artefact of such a job.
type runResult struct {
	Run    rehearsal.Run
	Taken  time.Duration          // of the answers; 0 if the plan does not ask for it
	Scores []view.ConditionScores // one if the session compares conditions, else none
	Facts  runFacts               // if the plan is of a study
}

// check returns an error unless r is the result of a request.
func (r runResult) check(of runRequest) error {
	switch {
	case r.Run.Seed != of.Seed:
		return fmt.Errorf("it is of seed %d", r.Run.Seed)
	case len(r.Run.Rows) == 0 && !of.Plan.Spec.IsArena():
		return errors.New("it has no comparison")
	}
	last := 0
	for _, c := range r.Run.Rows {
		if c.Given < last || c.Given > of.Plan.Answers {
			return fmt.Errorf("it has a comparison after %d answers behind one after %d; there were to be %d", c.Given, last, of.Plan.Answers)
		}
		last = c.Given
	}
	return nil
}

// awayRuns are runs that workers do.
type awayRuns struct {
	batch   *jobs.Batch
	plan    runPlan
	travel  training.Travel // training.Elsewhere of the sessions
	results *runResults
}

// run has a worker do the run of a seed. It is the Elsewhere of a rehearsal.Study.
func (a *awayRuns) run(ctx context.Context, seed uint64, heard func(given int)) (rehearsal.Run, error) {
	req := runRequest{Plan: a.plan, Seed: seed}
	payload, err := pack.Encode(&req)
	if err != nil {
		return rehearsal.Run{}, err
	}
	job := jobs.Job{JobKey: record.JobKey{Kind: runKind}, Like: runKind + " " + a.plan.Spec.Env, Work: runWork, Payload: payload, Needs: a.travel.Needs, Files: a.travel.Files}
	var r runResult
	err = a.batch.Do(ctx, job, runKind, func(p jobs.Progress) { heard(p.Done) }, func(b []byte) (err error) {
		if r, err = pack.Decode[runResult](b); err != nil {
			return err
		}
		return r.check(req)
	})
	if err != nil {
		return rehearsal.Run{}, err
	}
	a.results.put(r)
	return r.Run, nil
}

// runResults are the results of runs of this command.
type runResults struct {
	mu  sync.Mutex
	all map[uint64]runResult // guarded by mu; by seed
}

func (a *runResults) put(r runResult) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[uint64]runResult{}
	}
	a.all[r.Run.Seed] = r
}

// of returns the result of a run; ok is false for one of an earlier command.
func (a *runResults) of(seed uint64) (r runResult, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok = a.all[seed]
	return r, ok
}

// A runHandler does runs in a worker: each on a server of its own, in a temporary folder and in the
// process of the worker, which starts further workers for the trainings.
type runHandler struct {
	envs   func() envs.List
	worker []string // command line of the workers that train, as that of openApp
	log    *slog.Logger
}

var _ jobs.Handler = runHandler{}

// Forget implements jobs.Handler. Nothing is remembered of a run.
func (runHandler) Forget(idrl.SessionID) {}

// Do implements jobs.Handler. Its progress is the number of answers.
func (h runHandler) Do(ctx context.Context, job record.JobRecord, to jobs.Reporter) (err error) {
	req, err := pack.Decode[runRequest](job.Payload)
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "the payload of a run cannot be read by this worker: %v; start workers of the version of the program that asks for the run", err)
	}
	server := &studyServer{plan: req.Plan}
	if err := server.start(ctx, "", h.envs, h.log, h.worker); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.close()) }()
	r, err := server.rehearse(ctx, req.Seed, func(given int) { to.Progress(given, req.Plan.Answers, fmt.Sprintf("seed %d, answers", req.Seed)) })
	if err != nil {
		return err
	}
	result, err := pack.Encode(&r)
	if err != nil {
		return err
	}
	return to.Artefact(runKind, result)
}

// rehearse does the run of a seed.
func (s *studyServer) rehearse(ctx context.Context, seed uint64, heard func(given int)) (r runResult, err error) {
	cfg, err := s.open(ctx, seed)
	if err != nil {
		return r, err
	}
	if r.Run, err = rehearsal.Rehearse(ctx, cfg, heard); err != nil {
		return r, err
	}
	if watch, is := cfg.Clock.(*rehearsal.Stopwatch); is {
		r.Taken = watch.Taken()
		if r.Facts, err = s.facts(ctx, r.Run.Session); err != nil {
			return r, err
		}
	}
	if s.plan.Spec.Compares() {
		r.Scores, err = s.scores(ctx, r.Run.Session)
	}
	return r, err
}

// scores returns how well the conditions of a run predict held-out comparisons.
func (s *studyServer) scores(ctx context.Context, id idrl.SessionID) ([]view.ConditionScores, error) {
	sess, err := s.app.manager.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	scores, err := sess.Conditions(ctx)
	return []view.ConditionScores{scores}, err
}
