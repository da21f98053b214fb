package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// Answer takes in a reply. It returns once the reply is durable. The same reply
// again gives the same receipt, marked as a replay. Errors: Invalid for a reply
// that does not fit its question, NotFound for an unknown assignment, Forbidden
// for another annotator's, Conflict for one that is answered already or an id that
// was used for another reply.
func (s *Session) Answer(ctx context.Context, who idrl.AnnotatorID, a idrl.Answer) (view.Receipt, error) {
	a.Annotator, a.Undoes = who, ""
	return s.add(ctx, who, func() (logEntry, error) { return s.answer(a) })
}

// Refusals of what is said of a question. Annotators read them, so they name no
// id; callers know which question they spoke of.
var (
	errUnknownQuestion = idrl.Errorf(idrl.NotFound, "the server does not know this question; reload the page")
	errNotYours        = idrl.Errorf(idrl.Forbidden, "this question was given to another annotator; reload the page")
	errAnswered        = idrl.Errorf(idrl.Conflict, "this question was already answered, perhaps in another tab")
)

// Undo withdraws the annotator's earlier answer of: the belief becomes what it
// would be without it, and its question is offered again. Errors as for Answer.
func (s *Session) Undo(ctx context.Context, who idrl.AnnotatorID, id, of idrl.AnswerID) (view.Receipt, error) {
	a := idrl.Answer{ID: id, Annotator: who, Undoes: of}
	ahead, err := s.ahead(ctx, func() (*edit, error) { return s.heavyUndo(a) })
	if err != nil {
		return view.Receipt{}, err
	}
	return s.add(ctx, who, func() (logEntry, error) { return s.undo(a, ahead) })
}

// add sends the session a request that adds a row of the annotator's to the log.
func (s *Session) add(ctx context.Context, who idrl.AnnotatorID, write func() (logEntry, error)) (view.Receipt, error) {
	return ask(ctx, s.inbox, func(reply func(view.Receipt, error)) request {
		return request{write: write, reply: reply, after: func() { s.answered(ctx, who) }}
	})
}

func (s *Session) answer(a idrl.Answer) (logEntry, error) {
	if r, known, err := s.replayed(a); known {
		return logEntry{receipt: r}, err
	}
	s.noteExpired()
	as := s.asked.get(a.Assignment)
	switch {
	case s.revoked[a.Annotator]:
		return logEntry{}, errRevoked
	case as == nil:
		return logEntry{}, errUnknownQuestion
	case as.Annotator != a.Annotator:
		return logEntry{}, errNotYours
	case as.Answer != "":
		return logEntry{}, errAnswered
	}
	a.Query = as.Query.ID
	if err := a.Validate(as.Query); err != nil {
		return logEntry{}, err
	}
	if err := s.takes(a); err != nil {
		return logEntry{}, err
	}
	now := s.cfg.Now()
	a.Late, a.Doubts = now.After(as.LeaseUntil), record.FindDoubts(a, *as, s.spec.InstructionsVersion, now)
	a.Doubts |= s.hurry(a, *as, now)
	a.Seq = s.log.seq() + 1
	q, err := s.features.view.Query(as.Query)
	if err != nil {
		return logEntry{}, fmt.Errorf("answer to assignment %s: %w", as.ID, err)
	}
	history, err := s.extend(s.history, q, a)
	if err != nil {
		return logEntry{}, fmt.Errorf("update the belief: %w", err)
	}
	return s.row(a, history), nil
}

func (s *Session) undo(a idrl.Answer, ahead *edited) (logEntry, error) {
	if r, known, err := s.replayed(a); known {
		return logEntry{receipt: r}, err
	}
	of := s.log.find(a.Undoes)
	switch {
	case s.revoked[a.Annotator]:
		return logEntry{}, errRevoked
	case of == nil:
		return logEntry{}, idrl.Errorf(idrl.NotFound, "the answer to be taken back is not recorded on the server")
	case of.Annotator != a.Annotator:
		return logEntry{}, idrl.Errorf(idrl.Forbidden, "only your own answers can be undone")
	case !of.Reply() || s.log.undone[of.ID]:
		return logEntry{}, idrl.Errorf(idrl.Conflict, "that answer is already withdrawn")
	case !slices.Contains(s.log.lastOf(a.Annotator), of.ID):
		return logEntry{}, idrl.Errorf(idrl.Conflict, "only your last %d answers can be undone", undoable)
	}
	a.Assignment, a.Query = of.Assignment, of.Query
	history, err := s.edited(ahead, s.log.how, func() (edit, error) { return s.withdrawal(*of), nil })
	if err != nil {
		return logEntry{}, fmt.Errorf("undo %s: %w", a.Undoes, err)
	}
	return s.row(a, history), nil
}

// replayed looks for a row with a's id. known is false if there is none.
func (s *ledger) replayed(a idrl.Answer) (r view.Receipt, known bool, err error) {
	if a.ID == "" {
		return r, true, idrl.Errorf(idrl.Invalid, "the answer has no id; mint a UUID for it")
	}
	old := s.log.find(a.ID)
	if old == nil {
		return r, false, nil
	}
	if a.Undoes != "" {
		a.Assignment = old.Assignment
	}
	if !same(*old, a) {
		return r, true, idrl.Errorf(idrl.Conflict, "this answer was recorded before with another choice; reload the page")
	}
	return view.Receipt{ID: old.ID, Seq: old.Seq, Replay: true}, true, nil
}

// row returns the entry of log row a, which comes next, after which the effective answers are
// those of history. It leaves the encoded belief to rows.
func (s *Session) row(a idrl.Answer, history *posterior.History) logEntry {
	belief := history.Posterior()
	a.Seq = s.log.seq() + 1
	a.ReceivedAt = s.cfg.Now().UTC().Truncate(time.Millisecond)
	snap := record.Snapshot{
		Seq: a.Seq, Definition: record.PosteriorDefinition, Representation: s.features.version(), Mean: belief.Mean(nil),
		Slot: history.Slot(a.Seq), Regret: s.atRow(history, a.Seq),
	}
	if said, ok := s.foretell(s.features, a, s.history.Posterior(), s.history.Len()); ok {
		snap.Foretold = said.P
	}
	return logEntry{receipt: view.Receipt{ID: a.ID, Seq: a.Seq}, row: &record.Row{Answer: a, After: snap}, history: history}
}

// foretell returns the probability of each answer to the question of a under the posterior before, which is about the
// weights of f and has learnt from n answers. ok is false if the question has no prediction, or if reports
// compute it again (insight.Followed).
func (s *learntFeatures) foretell(f features, a idrl.Answer, before idrl.Posterior, n int) (said insight.Forecast, ok bool) {
	as := s.asked.get(a.Assignment)
	if f.version() == 0 && n < insight.Followed || as == nil || !a.Reply() || s.fitFollowed(a.Seq-1) {
		return said, false
	}
	q, err := f.view.Query(as.Query)
	if err != nil {
		return said, false
	}
	return insight.Foretell(f.model, before, q, a)
}

// notePrediction notes how well the posterior before an answer a predicted it: the probabilities foretold, if they are
// known, and whether a posterior mean of the weights of f has the right sign, if a prefers a clip. The sign is not
// noted for the first answer after features came into use.
func (s *learntFeatures) notePrediction(f features, a idrl.Answer, mean, foretold []float64) {
	if order := idrl.Outcomes(); len(foretold) == len(order) {
		s.log.outcomes = append(s.log.outcomes, insight.Forecast{Seq: a.Seq, P: foretold, Actual: slices.Index(order[:], a.Choice)})
	}
	if a.Choice != idrl.ChoseA && a.Choice != idrl.ChoseB || s.fitFollowed(a.Seq-1) {
		return
	}
	as := s.asked.get(a.Assignment)
	if as == nil {
		return
	}
	q, err := f.view.Query(as.Query)
	if err != nil {
		return
	}
	if m := floats.Dot(mean, q.X); m != 0 {
		s.log.predicted = append(s.log.predicted, quality.Hit{Seq: a.Seq, Hit: (m > 0) == (a.Choice == idrl.ChoseA)})
	}
}
