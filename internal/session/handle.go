package session

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// A Handle speaks to whichever run of a session is alive, so that a socket
// outlives the fault of a session: each call finds the session anew.
type Handle struct {
	Manager *Manager         // required
	ID      idrl.SessionID   // required
	Made    idrl.SessionSpec // required
}

// Spec returns what the session is made of.
func (h Handle) Spec() idrl.SessionSpec { return h.Made }

// Claim is Session.Claim.
func (h Handle) Claim(ctx context.Context, who idrl.AnnotatorID) (view.Offer, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return view.Offer{}, err
	}
	return s.Claim(ctx, who)
}

// Answer is Session.Answer.
func (h Handle) Answer(ctx context.Context, who idrl.AnnotatorID, a idrl.Answer) (view.Receipt, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return view.Receipt{}, err
	}
	return s.Answer(ctx, who, a)
}

// Undo is Session.Undo.
func (h Handle) Undo(ctx context.Context, who idrl.AnnotatorID, id, of idrl.AnswerID) (view.Receipt, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return view.Receipt{}, err
	}
	return s.Undo(ctx, who, id, of)
}

// Renew is Session.Renew.
func (h Handle) Renew(ctx context.Context, who idrl.AnnotatorID, a idrl.AssignmentID) error {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return err
	}
	return s.Renew(ctx, who, a)
}

// Have is Session.Have.
func (h Handle) Have(ctx context.Context, who idrl.AnnotatorID, ids []idrl.AnswerID) ([]idrl.AnswerID, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	return s.Have(ctx, who, ids)
}

// Status is Session.Status.
func (h Handle) Status(ctx context.Context) (view.Status, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return view.Status{}, err
	}
	return s.Status(ctx)
}

// Given is Session.Given.
func (h Handle) Given(ctx context.Context, who idrl.AnnotatorID) ([]view.Given, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	return s.Given(ctx, who)
}

// Insight is Session.Insight.
func (h Handle) Insight(ctx context.Context) (*insight.Report, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	return s.Insight(ctx)
}

// Open is Session.Open.
func (h Handle) Open(ctx context.Context) ([]record.Assignment, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx)
}

// Questions is Session.Questions.
func (h Handle) Questions(ctx context.Context, w insight.Wanted) ([]insight.Question, bool, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return nil, false, err
	}
	return s.Questions(ctx, w)
}

// Effect is Session.Effect.
func (h Handle) Effect(ctx context.Context) (view.Effect, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return view.Effect{}, err
	}
	return s.Effect(ctx)
}

// Upload is Session.Upload.
func (h Handle) Upload(ctx context.Context, given idrl.Generation) (view.Uploaded, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return view.Uploaded{}, err
	}
	return s.Upload(ctx, given)
}

// Conditions is Session.Conditions.
func (h Handle) Conditions(ctx context.Context) (view.ConditionScores, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return view.ConditionScores{}, err
	}
	return s.Conditions(ctx)
}

// CancelTraining is Session.CancelTraining.
func (h Handle) CancelTraining(ctx context.Context) error {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return err
	}
	return s.CancelTraining(ctx)
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
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	return s.Examples(ctx)
}

// Trainings is Session.Trainings.
func (h Handle) Trainings(ctx context.Context, most int) ([]record.PastTraining, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	return s.Trainings(ctx, most)
}

// Posterior is Session.Posterior.
func (h Handle) Posterior(ctx context.Context) (view.Held, error) {
	s, err := h.Manager.Session(ctx, h.ID)
	if err != nil {
		return view.Held{}, err
	}
	return s.Posterior(ctx)
}
