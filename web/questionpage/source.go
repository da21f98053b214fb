package questionpage

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/questions"
)

// A Source is where sessions are recorded.
type Source interface {
	Spec(ctx context.Context, id idrl.SessionID) (idrl.SessionSpec, error)
	Rows(ctx context.Context, id idrl.SessionID, yield func(record.Labelled) error) error
	ClipMedia(ctx context.Context, id idrl.SessionID, clip idrl.ClipID) ([]byte, error)
}

// Of returns the report of a session. progress, which may be nil, receives the number of measured
// questions.
func Of(ctx context.Context, from Source, id idrl.SessionID, progress func(done, total int)) (r Report, err error) {
	if r.Spec, err = from.Spec(ctx, id); err != nil {
		return r, err
	}
	var rows []record.Labelled
	err = from.Rows(ctx, id, func(l record.Labelled) error {
		rows = append(rows, l)
		return nil
	})
	if err != nil {
		return r, err
	}
	r.Media = func(ctx context.Context, clip idrl.ClipID) ([]byte, error) { return from.ClipMedia(ctx, id, clip) }
	r.Questions, err = questions.Measure(ctx, rows, r.Media, progress)
	return r, err
}
