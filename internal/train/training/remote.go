package training

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// A Dispatcher has jobs done by workers: on this machine (jobs.Pool) or elsewhere.
// Package jobstest has its contract.
type Dispatcher interface {
	// Start returns the stream of a job, as jobs.Pool.Start does.
	Start(ctx context.Context, job jobs.Job) iter.Seq2[jobs.Event, error]

	// Forget says that a session needs no worker for the time being.
	Forget(session idrl.SessionID)
}

// Records has the jobs that were interrupted, and the agents that trainings go on with.
type Records interface {
	// WaitingJob is that of jobs.Store.
	WaitingJob(ctx context.Context, session idrl.SessionID, kind string) (record.JobRecord, error)

	// Agent returns what Generation.Agents held last under a name: an error of kind
	// NotFound if there is none, and Damaged if it is not what was recorded.
	Agent(ctx context.Context, session idrl.SessionID, name string) ([]byte, error)
}

// Remote is the trainer of a session whose trainings are done by workers, one at a
// time.
type Remote struct {
	Jobs    Dispatcher       // required
	Records Records          // required
	Spec    idrl.SessionSpec // of the session
	Model   idrl.RewardModel // Model(…, Spec); required
	Quick   bool             // Quick(…, Spec)
	Travel  Travel           // Elsewhere(…, Spec)
	Log     *slog.Logger     // default slog.Default()

	mu   sync.Mutex // guards last
	last jobs.Done
}

var _ idrl.Trainer = (*Remote)(nil)

// Train implements idrl.Trainer. If a training from an earlier row of the log was
// interrupted and has a checkpoint, it is finished in place of the one that is asked
// for: the generation says by its BasedOn which it is. Sessions that adopt each
// generation at a fixed row get the one that they ask for.
func (t *Remote) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	j, err := t.job(ctx, job)
	if err != nil {
		return idrl.Generation{}, err
	}
	var result receiver
	for e, err := range t.Jobs.Start(ctx, j) {
		if err != nil {
			return idrl.Generation{}, err
		}
		switch e := e.(type) {
		case jobs.Progress:
			if job.Progress != nil {
				job.Progress(e.Done, e.Total, e.What)
			}
		case jobs.Outlook:
			if job.Outlook != nil {
				job.Outlook(idrl.Outlook(e))
			}
		case jobs.Began:
			result = receiver{}
		case jobs.Artefact:
			result.take(e)
		case jobs.Done:
			return t.accept(e, j.BasedOn, &result)
		}
	}
	return idrl.Generation{}, errors.New("the stream of a training has no end")
}

// job returns the job to be done. Agents go from the store to the worker: what is recorded
// of the job is without them.
func (t *Remote) job(ctx context.Context, job idrl.TrainJob) (j jobs.Job, err error) {
	req, err := newRequest(t.Model, t.Spec, job)
	if err != nil {
		return jobs.Job{}, err
	}
	j = jobs.Job{JobKey: record.JobKey{Session: t.Spec.ID, Kind: trainKind, BasedOn: job.BasedOn}, Yields: job.From > 0 && !t.Spec.IsArena(), Soon: job.Soon, Needs: t.Travel.Needs, Files: t.Travel.Files}
	j.Like, j.Work = t.length(job)
	if job.First {
		j.Priority = record.Urgent
	}
	if t.Spec.IsArena() || byAgents(t.Spec, job.Features != nil, job.First) || byGaits(t.Spec, job.First) {
		j.Make = t.withAgents(req)
		req.Recorded = true
	}
	if j.Payload, err = pack.Encode(&req); err != nil {
		return jobs.Job{}, err
	}
	if rec, ok := t.interrupted(ctx, job); ok {
		j.JobKey, j.Priority, j.Payload, j.Make = rec.JobKey, rec.Priority, rec.Payload, nil
	}
	return j, nil
}

// length returns which trainings take about as long as job, and how much processor time the
// first of them is taken to need.
func (t *Remote) length(job idrl.TrainJob) (like string, work time.Duration) {
	how := "solve"
	switch {
	case byAgents(t.Spec, job.Features != nil, job.First):
		how, work = "agents", time.Minute
	case byGaits(t.Spec, job.First) && job.Last:
		how, work = "last gaits", time.Minute
	case byGaits(t.Spec, job.First) && job.Soon:
		how, work = "first gaits", 10*time.Second
	case byGaits(t.Spec, job.First):
		how, work = "gaits", 20*time.Second
	case t.Quick:
		work = 2 * time.Second
	}
	return how + " " + t.Spec.Env, work
}

// withAgents returns what encodes req with the agents of the generation in use. That stays
// the same while the training is under way.
func (t *Remote) withAgents(req request) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) (_ []byte, err error) {
		whole := req
		if whole.Agents, err = t.agents(ctx); err != nil {
			return nil, err
		}
		return pack.Encode(&whole)
	}
}

// agents returns what a training goes on with: the state of searches among gaits; or the
// agents of the main policy and of the candidate whose turn it is. One that is damaged is
// left out, so that it begins anew.
func (t *Remote) agents(ctx context.Context) (map[string][]byte, error) {
	out := map[string][]byte{}
	kept := func(name string) error {
		b, err := t.Records.Agent(ctx, t.Spec.ID, name)
		kind := idrl.KindOf(err)
		if kind == idrl.NotFound {
			return nil
		}
		if kind == idrl.Damaged {
			cmp.Or(t.Log, slog.Default()).ErrorContext(ctx, "the state of an agent is damaged, and it begins anew", "session", t.Spec.ID, "name", name, "err", err)
			return nil
		}
		if err == nil {
			out[name] = b
		}
		return err
	}
	if t.Spec.IsArena() {
		return out, errors.Join(kept(EntrantsName), kept(EncountersName))
	}
	if t.Spec.ByGaits() {
		return out, kept(gaitsName)
	}
	if err := kept(agentListName); err != nil || out[agentListName] == nil {
		return nil, err
	}
	if r, err := pack.Decode[agentList](out[agentListName]); err == nil { // else the worker says so
		return out, errors.Join(kept(agentName(0)), kept(agentName(r.next())))
	}
	return out, nil
}

// interrupted returns an earlier training to be finished first. It is worth that if
// there is a checkpoint: else the newest posterior is the better start.
func (t *Remote) interrupted(ctx context.Context, job idrl.TrainJob) (record.JobRecord, bool) {
	if t.Spec.AdoptAfter > 0 || job.From > 0 {
		return record.JobRecord{}, false
	}
	rec, err := t.Records.WaitingJob(ctx, t.Spec.ID, trainKind)
	if idrl.KindOf(err) == idrl.NotFound || err == nil && (rec.Checkpoint == nil || rec.BasedOn >= job.BasedOn) {
		return record.JobRecord{}, false
	}
	if err == nil {
		_, err = decodeRequest(rec.JobKey, rec.Payload)
	}
	if err != nil {
		cmp.Or(t.Log, slog.Default()).WarnContext(ctx, "an interrupted training is left out", "session", t.Spec.ID, "err", err)
		return record.JobRecord{}, false
	}
	return rec, true
}

// accept returns the generation that a worker handed over. If it is not complete the
// worker is replaced.
func (t *Remote) accept(done jobs.Done, basedOn int64, result *receiver) (idrl.Generation, error) {
	g, err := result.generation()
	if err == nil && g.BasedOn != basedOn {
		err = errors.New("the worker handed over another generation")
	}
	if err != nil {
		done.Reject(err)
		return idrl.Generation{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = done
	return g, nil
}

// Reject ends the worker that made the last generation.
func (t *Remote) Reject(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last.Reject(why)
	t.last = jobs.Done{}
}

// Rest tells the workers to forget the session, which needs no further generation for
// the time being.
func (t *Remote) Rest() { t.Jobs.Forget(t.Spec.ID) }
