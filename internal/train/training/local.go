package training

import (
	"context"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// A Local trains in this process what a Remote has workers do, for experiments: nothing is
// recorded. It is owned by one goroutine.
type Local struct {
	Handler *Handler         // required
	Spec    idrl.SessionSpec // of the session
	Model   idrl.RewardModel // Model(…, Spec); required

	// Agents are idrl.Generation.Agents of the last result that the session took, where the next
	// training goes on.
	Agents map[string][]byte
}

var _ idrl.Trainer = (*Local)(nil)

// Train implements idrl.Trainer.
func (l *Local) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, error) {
	req, err := newRequest(l.Model, l.Spec, job)
	if err != nil {
		return idrl.Generation{}, err
	}
	req.Agents = l.Agents
	payload, err := pack.Encode(&req)
	if err != nil {
		return idrl.Generation{}, err
	}
	to := &localReporter{progress: job.Progress}
	record := record.JobRecord{JobKey: record.JobKey{Session: l.Spec.ID, Kind: trainKind, BasedOn: job.BasedOn}, Payload: payload}
	if err := l.Handler.Do(ctx, record, to); err != nil {
		return idrl.Generation{}, err
	}
	return to.parts.generation()
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
