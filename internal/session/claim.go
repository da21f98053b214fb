package session

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session/view"
)

// leastBeforeTheEnd is the number of answers that an annotator gives before the page says, by the rule for stopping, that
// they are done. Without it an annotator who joins late would be done after one answer.
const leastBeforeTheEnd = 10

// claims hand out questions to annotators.
type claims struct {
	*training
	*selector
	blocked []idrl.AnnotatorID // answered while the next generation was awaited
}

// Claim returns what the annotator may see: their open questions, renewed and
// topped up to Spec().Ahead, and how far they are.
func (s *Session) Claim(ctx context.Context, who idrl.AnnotatorID) (view.Offer, error) {
	return call(ctx, s.inbox, func() (view.Offer, error) {
		if s.revoked[who] {
			return view.Offer{}, errRevoked
		}
		s.noteExpired()
		if err := s.topUp(ctx, who); err != nil {
			return view.Offer{}, err
		}
		return s.offer(who), nil
	})
}

// Renew extends the lease of an open question of the annotator.
func (s *Session) Renew(ctx context.Context, who idrl.AnnotatorID, id idrl.AssignmentID) error {
	_, err := call(ctx, s.inbox, func() (struct{}, error) {
		s.noteExpired()
		as := s.asked.get(id)
		switch {
		case as == nil:
			return struct{}{}, errUnknownQuestion
		case as.Annotator != who:
			return struct{}{}, errNotYours
		case as.Answer != "":
			return struct{}{}, errAnswered
		case s.revoked[who]:
			return struct{}{}, errRevoked
		}
		return struct{}{}, s.renew(ctx, as)
	})
	return err
}

// done reports whether no more questions are asked.
func (s *statements) done() bool {
	return s.closed() || s.cfg.Unseen || s.spec.Budget > 0 && s.log.all.answers >= s.spec.Budget || s.spec.StopByItself && s.stopping().Propose || s.contestOver()
}

// doneBy reports whether the annotator is asked no more questions.
func (s *claims) doneBy(who idrl.AnnotatorID) bool {
	return s.done() || s.room(who, 0) <= 0 || !s.moreClips() && s.askedAll(who)
}

func (s *claims) offer(who idrl.AnnotatorID) view.Offer {
	o := view.Offer{
		Seq: s.log.seq(), Answers: s.log.all.answers, Budget: s.spec.Budget, Done: s.doneBy(who), Seen: s.inView,
		Instructions: s.spec.InstructionsVersion, Learning: s.learning(),
	}
	e := s.effect()
	o.Left, o.Effect, o.Same = s.left(), e != (view.Effect{}), s.looksSame(e)
	mine := s.log.mine[who]
	o.Mine, o.Skipped = mine.answers+mine.skipped, mine.skipped
	if last := s.log.lastOf(who); len(last) > 0 {
		o.Undo = last[0]
	}
	if o.Done {
		s.end(who, &o)
		return o
	}
	if o.Paused = s.paused(); o.Paused {
		o.Waiting = "The researcher has paused this session. Your answers are saved. This page continues by itself as soon as the session is resumed."
		return o
	}
	if s.spec.Budget == 0 && s.spec.AnswersEach == 0 && s.stopping().Propose {
		if s.spec.AskOn {
			o.Left = stopping.Forecast{}
		} else if o.Enough = o.Mine >= leastBeforeTheEnd; o.Enough {
			o.Code = s.spec.CompletionCode
		}
	}
	open := s.asked.openOf(who)
	more := s.mayAsk(who, open, nil, nil)
	o.Open = slices.Grow(o.Open, len(open))
	for _, a := range open {
		if more || !s.asked.putOff(a) { // else an annotator without a network would answer more questions than are wanted
			o.Open = append(o.Open, *a)
		}
	}
	o.Open = o.Open[:min(len(o.Open), s.room(who, 0))]
	if !more {
		o.Open = o.Open[:min(len(o.Open), s.roomInBudget(who))]
	}
	switch {
	case len(o.Open) > 0:
	case s.gen == nil:
		o.Waiting = s.firstClips()
	case len(s.gen.Queries) == 0:
		o.Waiting = "There are no questions: all clips look alike. Please tell the person who gave you the link."
	case s.budgetLeased(nil, nil):
		o.Waiting = "Other annotators are answering the last questions of this session."
	case s.moreClips():
		o.Waiting = "More clips are being made. This page continues by itself when they are ready."
	default:
		o.Waiting = "New questions are being made from the answers so far."
	}
	return o
}

// end fills in o of an annotator who is asked no more questions.
func (s *claims) end(who idrl.AnnotatorID, o *view.Offer) {
	if s.spec.AdoptAfter > 0 && s.done() { // what is trained is in use some answers later, and none come
		l := o.Learning
		o.Learning = view.Learning{Answers: l.Answers, Untrained: l.Untrained, Why: s.whyNot()}
	}
	switch {
	case s.cfg.Unseen:
		o.Waiting = "The recordings of this session have no pictures, so there are no questions. Please tell the person who gave you the link."
	case s.closed():
		o.Waiting = "The researcher has ended this session. Thank you for your answers!"
	case !s.done() && !s.moreClips() && s.askedAll(who):
		o.Waiting = "You have compared all clips of this session. Thank you for your answers!"
	}
	if o.Mine > 0 {
		o.Code = s.spec.CompletionCode
	}
}

// topUp renews the annotator's leases where half of the time is gone, reopens
// questions whose answers they withdrew, and issues new ones.
func (s *claims) topUp(ctx context.Context, who idrl.AnnotatorID) error {
	if s.gen == nil || s.paused() || s.doneBy(who) || s.revoked[who] {
		return nil
	}
	for _, as := range s.asked.openOf(who) {
		if s.ageing(as) {
			if err := s.renew(ctx, as); err != nil {
				return err
			}
		}
	}
	fresh, err := s.fresh(who)
	if err != nil {
		return err
	}
	return s.issue(ctx, fresh)
}

// topUpOrLog is topUp that logs its error: the annotator's next
// claim tries again.
func (s *claims) topUpOrLog(ctx context.Context, who idrl.AnnotatorID) {
	if err := s.topUp(ctx, who); err != nil {
		s.cfg.Log.ErrorContext(ctx, "issue questions", "session", s.spec.ID, "err", err)
	}
}

// answered tops up the annotator's questions, where that could not be done with
// the answer, and tells the watchers. It runs within the request of the answer, so that
// the next question is a function of the log and does not depend on when it is claimed.
func (s *claims) answered(ctx context.Context, who idrl.AnnotatorID) {
	s.adoptIfDue(ctx)
	if s.adoptionDue() {
		s.blocked = append(s.blocked, who)
	} else {
		s.topUpOrLog(ctx, who)
	}
	s.publish(live.EventAnswered, who)
}

// adoptIfDue brings the next generation into use if it is ready and due, and then hands out questions to the annotators
// who waited for it.
func (s *claims) adoptIfDue(ctx context.Context) {
	if !s.adopt(ctx) {
		return
	}
	// Together with the adoption, or it would depend on whether the annotator's
	// next answer or their next claim comes first.
	for _, who := range s.blocked {
		s.topUpOrLog(ctx, who)
	}
	s.blocked = nil
	s.publish(live.EventAdopted, "")
	s.restIfComplete()
}

// roomInBudget returns how many answers of the annotator the budget has room for beside those that are awaited from others.
// It is at least 1, for the question on the screen. A question that was put off for that one may be one too many.
func (s *claims) roomInBudget(who idrl.AnnotatorID) int {
	if s.spec.Budget == 0 {
		return math.MaxInt
	}
	n := s.spec.Budget - s.log.all.answers
	for as := range s.awaited(nil, nil) {
		if as.Annotator != who {
			n--
		}
	}
	return max(1, n)
}

// fresh returns the assignments that the annotator lacks, not issued yet: those
// they withdrew their answers to, and new ones.
func (s *claims) fresh(who idrl.AnnotatorID) ([]record.Assignment, error) {
	fresh := s.reopened(who)
	open, waits := s.asked.openOf(who), s.exchangeable(who, fresh)
	atHand := func() (n int) {
		for _, as := range open {
			if !s.asked.withdrawn(as, len(fresh)) {
				n++
			}
		}
		return n + len(fresh)
	}
	for atHand() < s.spec.Ahead && s.mayAsk(who, open, fresh, waits) {
		as, ok, err := s.choose(who, fresh, waits)
		switch {
		case err != nil:
			return nil, err
		case ok:
			fresh = append(fresh, as)
		case waits == nil:
			return fresh, nil
		}
		waits = nil // it stays where it is, or the one that was chosen comes before it
	}
	return fresh, nil
}

// mayAsk reports whether the annotator may be asked one question more than those of open and fresh. but, which may be nil,
// is not counted: it would be put off for the new question.
func (s *claims) mayAsk(who idrl.AnnotatorID, open []*record.Assignment, fresh []record.Assignment, but *record.Assignment) bool {
	n := len(fresh)
	for _, as := range open {
		if as != but && !s.asked.putOff(as) {
			n++
		}
	}
	return s.room(who, n) > 0 && !s.budgetLeased(fresh, but)
}

// upcoming returns what topUp would issue to the annotator, to be issued with their
// answer. It returns nothing where something else has to be recorded first, or the
// choice fails: then topUp, after the answer, does the rest.
func (s *claims) upcoming(ctx context.Context, who idrl.AnnotatorID) []record.Assignment {
	if s.gen == nil || s.paused() || s.doneBy(who) || s.revoked[who] || s.training.ready != nil || s.adoptionDue() || slices.ContainsFunc(s.asked.openOf(who), s.ageing) {
		return nil
	}
	fresh, err := s.fresh(who)
	if err != nil {
		s.cfg.Log.ErrorContext(ctx, "choose questions", "session", s.spec.ID, "err", err)
	}
	return fresh
}

// issue makes assignments durable and then hands them out.
func (s *claims) issue(ctx context.Context, fresh []record.Assignment) error {
	if len(fresh) == 0 {
		return nil
	}
	if err := s.cfg.Journal.Issue(context.WithoutCancel(ctx), s.spec.ID, fresh); err != nil {
		return fmt.Errorf("issue %d questions: %w", len(fresh), err)
	}
	for _, as := range fresh {
		s.hand(as)
	}
	return nil
}
