package session

import (
	"context"

	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
)

// Inside reads single values of a session that runs, for experiments, without the rest of its status.
type Inside struct {
	Of *Session // required
}

// Recommended returns the policy that the session recommends now, the zero Candidate before any is
// known.
func (i Inside) Recommended(ctx context.Context) (idrl.Candidate, error) {
	return call(ctx, i.Of.inbox, func() (idrl.Candidate, error) { return i.Of.lead().Leader, nil })
}

// Training returns what is trained now. Once it has returned, every training that the requests
// before it made due has begun.
func (i Inside) Training(ctx context.Context) (view.Training, error) {
	return call(ctx, i.Of.inbox, func() (view.Training, error) { return i.Of.trainingNow(), nil })
}
