package jobs

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Kinds is a Handler of several kinds of jobs: the handler of its kind does a job. A job of another
// kind ends with an error of kind Invalid.
type Kinds map[string]Handler

var _ Handler = Kinds{}

// Do implements Handler.
func (k Kinds) Do(ctx context.Context, job record.JobRecord, to Reporter) error {
	h, ok := k[job.Kind]
	if !ok {
		return idrl.Errorf(idrl.Invalid, "this worker does no jobs of kind %.100q: start the workers of the program that asks for them, in the same version", job.Kind)
	}
	return h.Do(ctx, job, to)
}

// Forget implements Handler. A handler of several kinds hears of each session as often.
func (k Kinds) Forget(session idrl.SessionID) {
	for _, h := range k {
		h.Forget(session)
	}
}
