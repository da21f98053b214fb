package session

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/look/answerable"
)

// Claim returns what the annotator may see: their open questions, renewed and
// topped up to Spec().Ahead, and how far they are.
func (s *Session) Claim(ctx context.Context, who idrl.AnnotatorID) (idrl.Offer, error) {
	return call(ctx, s, func() (idrl.Offer, error) {
		if s.revoked[who] {
			return idrl.Offer{}, errRevoked
		}
		if err := s.topUp(ctx, who); err != nil {
			return idrl.Offer{}, err
		}
		return s.offer(who), nil
	})
}

// Renew extends the lease of an open question of the annotator.
func (s *Session) Renew(ctx context.Context, who idrl.AnnotatorID, id idrl.AssignmentID) error {
	_, err := call(ctx, s, func() (struct{}, error) {
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

func (s *Session) renew(ctx context.Context, as *idrl.Assignment) error {
	until := s.cfg.Now().Add(s.cfg.Lease)
	if err := s.cfg.Journal.Renew(context.WithoutCancel(ctx), s.spec.ID, as.ID, until); err != nil {
		return fmt.Errorf("renew %s: %w", as.ID, err)
	}
	as.LeaseUntil = until
	return nil
}

// done reports whether no more questions are asked.
func (s *Session) done() bool {
	return s.state.Ended() || s.cfg.Unseen || s.spec.Budget > 0 && s.log.all.answers >= s.spec.Budget || s.spec.StopByItself && s.stopping().Propose
}

// doneBy reports whether the annotator is asked no more questions.
func (s *Session) doneBy(who idrl.AnnotatorID) bool {
	return s.done() || s.room(who, 0) <= 0 || s.askedAll(who)
}

// room returns how many questions more the annotator may be asked, beside n of which the
// answers are awaited.
func (s *Session) room(who idrl.AnnotatorID, n int) int {
	if s.spec.AnswersEach == 0 {
		return math.MaxInt
	}
	mine := s.log.mine[who]
	return s.spec.AnswersEach - mine.answers - mine.skipped - n
}

func (s *Session) offer(who idrl.AnnotatorID) idrl.Offer {
	o := idrl.Offer{
		Seq: s.log.seq(), Answers: s.log.all.answers, Budget: s.spec.Budget, Done: s.doneBy(who),
		Instructions: s.spec.InstructionsVersion, Learning: s.learning(),
	}
	e := s.effect()
	o.Left, o.Effect, o.Same = s.left(), e != (idrl.Effect{}), s.looksSame(e)
	mine := s.log.mine[who]
	o.Mine, o.Skipped = mine.answers+mine.skipped, mine.skipped
	if last := s.log.lastOf(who); len(last) > 0 {
		o.Undo = last[0]
	}
	if o.Done {
		if s.spec.AdoptAfter > 0 && s.done() { // what is trained is in use some answers later, and none come
			o.Learning.Running = false
		}
		switch {
		case s.cfg.Unseen:
			o.Waiting = "The recordings of this session have no pictures, so there are no questions. Please tell the person who gave you the link."
		case s.state.Ended():
			o.Waiting = "The researcher has ended this session. Thank you for your answers!"
		case !s.done() && s.askedAll(who):
			o.Waiting = "You have compared all clips of this session. Thank you for your answers!"
		}
		if o.Mine > 0 {
			o.Code = s.spec.CompletionCode
		}
		return o
	}
	if o.Paused = s.paused(); o.Paused {
		o.Waiting = "The researcher has paused this session. Your answers are saved. This page continues by itself as soon as the session is resumed."
		return o
	}
	open := s.asked.openOf(who)
	o.Open = slices.Grow(o.Open, len(open))
	for _, a := range open {
		o.Open = append(o.Open, *a)
	}
	switch {
	case len(o.Open) > 0:
	case s.gen == nil:
		o.Waiting = s.firstClips()
	case len(s.gen.Queries) == 0:
		o.Waiting = "There are no questions: all clips look alike. Please tell the person who gave you the link."
	case s.budgetLeased(nil):
		o.Waiting = "Other annotators are answering the last questions of this session."
	default:
		o.Waiting = "New questions are being made from the answers so far."
	}
	return o
}

// awaited returns the assignments whose answers will count: those under a live lease, by N,
// and then fresh, without those of people who are left out. Once they are taken in again,
// theirs are among them.
func (s *Session) awaited(fresh []idrl.Assignment) iter.Seq[*idrl.Assignment] {
	return func(yield func(*idrl.Assignment) bool) {
		for as := range s.asked.live(s.cfg.Now()) {
			if !s.log.how[as.Annotator].Out && !yield(as) {
				return
			}
		}
		for i := range fresh {
			if !s.log.how[fresh[i].Annotator].Out && !yield(&fresh[i]) {
				return
			}
		}
	}
}

// budgetLeased reports whether the answers that are awaited, with those to fresh, cover what
// is left of the budget.
func (s *Session) budgetLeased(fresh []idrl.Assignment) bool {
	if s.spec.Budget == 0 {
		return false
	}
	n := s.log.all.answers
	for range s.awaited(fresh) {
		n++
	}
	return n >= s.spec.Budget
}

// topUp renews the annotator's leases where half of the time is gone, reopens
// questions whose answers they withdrew, and issues new ones.
func (s *Session) topUp(ctx context.Context, who idrl.AnnotatorID) error {
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

// ageing reports whether half of an assignment's lease is gone.
func (s *Session) ageing(as *idrl.Assignment) bool {
	return as.LeaseUntil.Sub(s.cfg.Now()) < s.cfg.Lease/2
}

// fresh returns the assignments that the annotator lacks, not issued yet: those
// they withdrew their answers to, and new ones.
func (s *Session) fresh(who idrl.AnnotatorID) ([]idrl.Assignment, error) {
	open := len(s.asked.openOf(who))
	fresh := s.reopened(who)
	for open+len(fresh) < s.spec.Ahead && s.room(who, open+len(fresh)) > 0 && !s.budgetLeased(fresh) {
		as, ok, err := s.choose(who, fresh)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		fresh = append(fresh, as)
	}
	return fresh, nil
}

// upcoming returns what topUp would issue to the annotator, to be issued with their
// answer. It returns nothing where something else has to be recorded first, or the
// choice fails: then topUp, after the answer, does the rest.
func (s *Session) upcoming(ctx context.Context, who idrl.AnnotatorID) []idrl.Assignment {
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
func (s *Session) issue(ctx context.Context, fresh []idrl.Assignment) error {
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

// reopened returns assignments that ask again what the annotator withdrew,
// where that has not been done yet.
func (s *Session) reopened(who idrl.AnnotatorID) (out []idrl.Assignment) {
	for _, row := range s.log.withdrawals(who) {
		if s.asked.reopens[row.Undoes] {
			continue
		}
		old := s.asked.get(row.Assignment)
		as := s.lease(who, s.asked.nextN()+int64(len(out)), old.Query)
		as.Left, as.Order, as.Reopens = old.Left, old.Order, row.Undoes // the same question, at the same places
		as.Why, as.Condition, as.Gold = old.Why, old.Condition, old.Gold
		out = append(out, as)
	}
	return out
}

func (s *Session) lease(who idrl.AnnotatorID, n int64, q idrl.Query) idrl.Assignment {
	now := s.cfg.Now()
	return idrl.Assignment{
		ID: idrl.AssignmentID(fmt.Sprintf("%s.%d", s.spec.ID, n)), N: n,
		Query: q, Annotator: who, IssuedAt: now, LeaseUntil: now.Add(s.cfg.Lease),
	}
}

// choose picks the next question for the annotator. Questions under a live
// lease and those in fresh count as if they were answered already, so that two
// annotators are not asked the same at a time, but for those of people who are left
// out. It is a function of the log, the pending questions, the generations so far and
// the number of the assignment. Its error is that of the acquisition function, and of
// its kind.
func (s *Session) choose(who idrl.AnnotatorID, fresh []idrl.Assignment) (as idrl.Assignment, ok bool, err error) {
	n := s.asked.nextN() + int64(len(fresh))
	if again, due := s.repeat(who, n, fresh); due {
		return again, true, nil
	}
	if known, due, err := s.gold(who, n, fresh); err != nil || due {
		return known, due, err
	}
	pending, with, err := s.pending(fresh)
	if err != nil {
		return idrl.Assignment{}, false, err
	}
	askable, err := s.askable(who, fresh, pending)
	if err != nil || len(askable) == 0 {
		return idrl.Assignment{}, false, err
	}
	by := s.draw(n, askable, fresh)
	purpose := s.purpose(by.condition)
	choice, err := s.learner.Choose(learning.Question{
		Askable: by.askable, Pending: pending, Who: who, With: with, Weight: s.answerWeights(by.askable), Method: by.method,
	}, rng.New(s.spec.Seed, "tie", uint64(n)))
	if err != nil {
		return idrl.Assignment{}, false, fmt.Errorf("choose question %d %w", n, err)
	}
	q := by.askable[choice.Query]
	if s.spec.Kind.Group() {
		as, ok, err = s.chooseGroup(who, n, q.Query, choice, pending)
		as.Condition, as.Why.Purpose = by.condition, purpose
		return as, ok, err
	}
	s.features.view.Remember(&q)
	as = s.lease(who, n, q.Query)
	as.Condition = by.condition
	if as.Query.Kind.Comparison() {
		as.Left = s.side(n)
	}
	as.Why, err = s.why(q.Query, choice)
	as.Why.Purpose = purpose
	return as, err == nil, err
}

// side draws which clip of assignment n is on the left.
func (s *Session) side(n int64) idrl.Side {
	return []idrl.Side{idrl.SideA, idrl.SideB}[rng.New(s.spec.Seed, "side", uint64(n)).IntN(2)]
}

// answerWeights returns what the values of queries are multiplied by; nil for ones.
func (s *Session) answerWeights(queries []idrl.QueryVector) func(q int, mean, variance float64) float64 {
	if !s.seesQuestions() || !s.sight.drawn {
		return nil
	}
	model := s.clarity()
	return func(i int, mean, variance float64) float64 {
		return s.sight.seen[queries[i].ID].weight(model, queries[i].Kind, mean, variance)
	}
}

// why returns what made q worth asking, and what a person sees of it.
func (s *Session) why(q idrl.Query, choice learning.Choice) (idrl.Why, error) {
	w := idrl.Why{
		First: choice.FirstID, Second: choice.SecondID, Rivals: choice.Rivals, PairStd: choice.PairStd, Info: choice.Info,
		BasedOn: s.gen.BasedOn, AfterSeq: s.log.seq(), Shares: choice.ShareIDs, Best: choice.Best,
	}
	seen, err := s.sight.question(q)
	if err == nil && seen.drawn {
		seen.why(&w, q.Kind, choice.Mean, choice.Var)
		w.Answerable = s.clarity().Probability(answerable.Of(q.Kind, w))
	}
	return w, err
}
