package session

import (
	"context"
	"errors"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// A Handle calls the methods of a session. Each call looks up the run of the session that is alive, and loads a session that
// rests, so that a socket stays usable after a fault of the session.
type Handle struct {
	Manager *Manager         // required
	ID      idrl.SessionID   // required
	Made    idrl.SessionSpec // required
}

// Spec returns what the session is made of.
func (h Handle) Spec() idrl.SessionSpec { return h.Made }

// on calls f with the session, again if it came to rest before it took the request, or started again without the data of a
// person: what such a run was asked and has not done is no different for the next one.
func on[T any](ctx context.Context, h Handle, f func(*Session) (T, error)) (T, error) {
	for {
		var zero T
		r, err := h.Manager.loaded(ctx, h.ID)
		if err != nil {
			return zero, err
		}
		v, err := f(r.s)
		if !errors.Is(err, errRests) && !errors.Is(err, errSuperseded) {
			return v, err
		}
		select {
		case <-r.ended:
		case <-ctx.Done():
			return zero, ctx.Err()
		}
	}
}

// Claim is Session.Claim.
func (h Handle) Claim(ctx context.Context, who idrl.AnnotatorID) (view.Offer, error) {
	return on(ctx, h, func(s *Session) (view.Offer, error) { return s.Claim(ctx, who) })
}

// Answer is Session.Answer.
func (h Handle) Answer(ctx context.Context, who idrl.AnnotatorID, a idrl.Answer) (view.Receipt, error) {
	return on(ctx, h, func(s *Session) (view.Receipt, error) { return s.Answer(ctx, who, a) })
}

// Undo is Session.Undo.
func (h Handle) Undo(ctx context.Context, who idrl.AnnotatorID, id, of idrl.AnswerID) (view.Receipt, error) {
	return on(ctx, h, func(s *Session) (view.Receipt, error) { return s.Undo(ctx, who, id, of) })
}

// Renew is Session.Renew.
func (h Handle) Renew(ctx context.Context, who idrl.AnnotatorID, a idrl.AssignmentID) error {
	_, err := on(ctx, h, func(s *Session) (struct{}, error) { return struct{}{}, s.Renew(ctx, who, a) })
	return err
}

// Have is Session.Have.
func (h Handle) Have(ctx context.Context, who idrl.AnnotatorID, ids []idrl.AnswerID) ([]idrl.AnswerID, error) {
	return on(ctx, h, func(s *Session) ([]idrl.AnswerID, error) { return s.Have(ctx, who, ids) })
}

// Status is Session.Status.
func (h Handle) Status(ctx context.Context) (view.Status, error) {
	return on(ctx, h, func(s *Session) (view.Status, error) { return s.Status(ctx) })
}

// Given is Session.Given.
func (h Handle) Given(ctx context.Context, who idrl.AnnotatorID) ([]view.Given, error) {
	return on(ctx, h, func(s *Session) ([]view.Given, error) { return s.Given(ctx, who) })
}

// Insight is Session.Insight.
func (h Handle) Insight(ctx context.Context) (*insight.Report, error) {
	return on(ctx, h, func(s *Session) (*insight.Report, error) { return s.Insight(ctx) })
}

// Learnt is Session.Learnt.
func (h Handle) Learnt(ctx context.Context) (*insight.Learnt, error) {
	return on(ctx, h, func(s *Session) (*insight.Learnt, error) { return s.Learnt(ctx) })
}

// Open is Session.Open.
func (h Handle) Open(ctx context.Context) ([]record.Assignment, error) {
	return on(ctx, h, func(s *Session) ([]record.Assignment, error) { return s.Open(ctx) })
}

// Questions is Session.Questions.
func (h Handle) Questions(ctx context.Context, w insight.Wanted) (list []insight.Question, more bool, err error) {
	list, err = on(ctx, h, func(s *Session) (list []insight.Question, err error) {
		list, more, err = s.Questions(ctx, w)
		return list, err
	})
	return list, more, err
}

// Effect is Session.Effect.
func (h Handle) Effect(ctx context.Context) (view.Effect, error) {
	return on(ctx, h, func(s *Session) (view.Effect, error) { return s.Effect(ctx) })
}

// Upload is Session.Upload.
func (h Handle) Upload(ctx context.Context, given idrl.Generation) (view.Uploaded, error) {
	return on(ctx, h, func(s *Session) (view.Uploaded, error) { return s.Upload(ctx, given) })
}

// Conditions is Session.Conditions.
func (h Handle) Conditions(ctx context.Context) (view.ConditionScores, error) {
	return on(ctx, h, func(s *Session) (view.ConditionScores, error) { return s.Conditions(ctx) })
}

// CancelTraining is Session.CancelTraining.
func (h Handle) CancelTraining(ctx context.Context) error {
	_, err := on(ctx, h, func(s *Session) (struct{}, error) { return struct{}{}, s.CancelTraining(ctx) })
	return err
}

// Follow is Session.Follow; a session that starts again has followed.
func (h Handle) Follow(ctx context.Context) error {
	r, err := h.Manager.loaded(ctx, h.ID)
	if err != nil {
		return err
	}
	return r.follow(ctx)
}

// Examples is Session.Examples.
func (h Handle) Examples(ctx context.Context) ([]idrl.Query, error) {
	return on(ctx, h, func(s *Session) ([]idrl.Query, error) { return s.Examples(ctx) })
}

// Trainings is Session.Trainings.
func (h Handle) Trainings(ctx context.Context, most int) ([]record.PastTraining, error) {
	return on(ctx, h, func(s *Session) ([]record.PastTraining, error) { return s.Trainings(ctx, most) })
}

// Posterior is Session.Posterior.
func (h Handle) Posterior(ctx context.Context) (view.Held, error) {
	return on(ctx, h, func(s *Session) (view.Held, error) { return s.Posterior(ctx) })
}
