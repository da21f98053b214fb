package training

import (
	"context"
	"sync"

	"tiebreak/internal/idrl"
	"tiebreak/internal/jobs"
)

// A Dispatcher has jobs done by workers.
type Dispatcher interface {
	Do(ctx context.Context, job jobs.Job) (jobs.Result, error)
}

// Remote is the trainer of a session whose trainings are done by workers, one at a
// time.
type Remote struct {
	Jobs Dispatcher       // required
	Spec idrl.SessionSpec // of the session

	mu   sync.Mutex // guards last
	last jobs.Result
}

// Train implements idrl.Trainer.
func (t *Remote) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	payload, err := encodeRequest(t.Spec, job)
	if err != nil {
		return idrl.Generation{}, err
	}
	r, err := t.Jobs.Do(ctx, jobs.Job{
		Key:  jobs.Key{Session: t.Spec.ID, Kind: "train", BasedOn: job.BasedOn},
		Like: t.Spec.Env, Payload: payload, Progress: job.Progress, Outlook: job.Outlook,
	})
	if err != nil {
		return idrl.Generation{}, err
	}
	g, err := decodeGeneration(r.Bytes)
	r.Bytes = nil
	if err != nil {
		r.Reject(err)
		return idrl.Generation{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = r
	return g, nil
}

// Reject ends the worker that made the last generation.
func (t *Remote) Reject(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last.Reject(why)
	t.last = jobs.Result{}
}

var _ idrl.Trainer = (*Remote)(nil)
