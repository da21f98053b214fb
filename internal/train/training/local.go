package training

import (
	"context"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// A Local trains in this process what a Remote has workers do, for experiments: nothing is
// recorded. It is owned by one goroutine.
type Local struct {
	Handler *Handler         // required
	Spec    idrl.SessionSpec // of the session
	Model   idrl.RewardModel // Model(…, Spec); required

	agents map[string][]byte // of the last generation
}

var _ idrl.Trainer = (*Local)(nil)

// Train implements idrl.Trainer. The next training goes on with the agents of this one.
func (l *Local) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	req, err := newRequest(l.Model, l.Spec, job)
	if err != nil {
		return idrl.Generation{}, err
	}
	req.Agents = l.agents
	payload, err := pack.Encode(&req)
	if err != nil {
		return idrl.Generation{}, err
	}
	to := &localReporter{progress: job.Progress}
	record := idrl.JobRecord{JobKey: idrl.JobKey{Session: l.Spec.ID, Kind: trainKind, BasedOn: job.BasedOn}, Payload: payload}
	if err := l.Handler.Do(ctx, record, to); err != nil {
		return idrl.Generation{}, err
	}
	g, err := to.parts.generation()
	if err == nil {
		l.agents = g.Agents
	}
	return g, err
}

type localReporter struct {
	progress idrl.Progress
	parts    receiver
}

func (r *localReporter) Progress(done, total int, what string) {
	if r.progress != nil {
		r.progress(done, total, what)
	}
}

func (r *localReporter) Artefact(name string, b []byte) error {
	r.parts.take(jobs.NewArtefact(name, b))
	return nil
}

func (r *localReporter) Checkpoint([]byte) error { return nil }
