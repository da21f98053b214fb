package main

import (
	"context"
	"errors"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
)

// exclude leaves out the answers of those whom the rules of a session exclude, in the name of the rule. It loads no session that rests:
// that follows when it is loaded.
func (a *app) exclude(ctx context.Context, id idrl.SessionID, now time.Time) error {
	spec, err := a.db.Spec(ctx, id)
	if err != nil || !spec.Excludes() {
		return err
	}
	rec, err := a.db.Labelling(ctx, id)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range quality.Excluded(rec) {
		if err := a.db.DecideAnswers(ctx, id, e.Annotator, idrl.LeftOut, "rule "+e.Why, now); err != nil {
			errs = append(errs, err)
			continue
		}
		a.log.Info("the answers of an annotator are left out", "session", id, "annotator", e.Annotator, "rule", e.Why)
	}
	return errors.Join(errs...)
}
