package session

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/representation"
)

// A ledger is what the journal has of answers and questions, as a session needs it in memory.
type ledger struct {
	*settings
	log   *answerLog
	asked *assignments
	last  []idrl.Query // buffer of lastAsked

	looked, soonest time.Time // when leases were looked at last, and no later than the next one ends
}

// question returns what an answer of the log replies to, under a representation.
func (s *ledger) question(under *representation.View, a idrl.Answer) (*idrl.QueryVector, error) {
	as := s.asked.get(a.Assignment)
	if as == nil {
		return nil, fmt.Errorf("answer %d: its assignment %s is not recorded", a.Seq, a.Assignment)
	}
	return under.Query(as.Query)
}

// heldOut reports whether nothing is learnt from the answer to an assignment.
func (s *ledger) heldOut(id idrl.AssignmentID) bool {
	if len(s.asked.heldOut) == 0 { // in most sessions, which need not look
		return false
	}
	as := s.asked.get(id)
	return as != nil && as.Condition == record.HeldOut
}

// teaches reports whether the posterior learns from a reply that counts: it says something,
// and its question is not held out.
func (s *ledger) teaches(a idrl.Answer) bool { return a.Informative() && !s.heldOut(a.Assignment) }

// learnt reports whether the posterior has learnt from row seq: it is an answer that counts and is not held out.
func (s *ledger) learnt(seq int64) bool {
	return s.log.counts(seq) && !s.heldOut(s.log.at(seq).Assignment)
}

// learntAfter returns how many answers the posterior had learnt from after each row of the log, from before the first
// one on. Answers that are erased do not count.
func (s *ledger) learntAfter() []int {
	out, n := make([]int, 1, len(s.log.rows)+1), 0
	leftOut, taught := map[idrl.AnnotatorID]bool{}, map[idrl.AnnotatorID]int{}
	add := func(a idrl.Answer, step int) {
		taught[a.Annotator] += step
		if !leftOut[a.Annotator] {
			n += step
		}
	}
	for _, a := range s.log.rows {
		switch {
		case a.Undoes != "":
			if of := s.log.find(a.Undoes); of != nil && s.teaches(*of) {
				add(*of, -1)
			}
		case a.Decision():
			if is := record.CountingOf(&a).Out; is != leftOut[a.Annotator] {
				leftOut[a.Annotator] = is
				n += map[bool]int{true: -1, false: 1}[is] * taught[a.Annotator]
			}
		case s.teaches(a):
			add(a, 1)
		}
		out = append(out, n)
	}
	return out
}

func (s *ledger) lease(who idrl.AnnotatorID, n int64, q idrl.Query) record.Assignment {
	now := s.cfg.Now()
	return record.Assignment{
		ID: idrl.AssignmentID(fmt.Sprintf("%s.%d", s.spec.ID, n)), N: n,
		Query: q, Annotator: who, IssuedAt: now, LeaseUntil: now.Add(s.cfg.Lease),
	}
}

func (s *ledger) renew(ctx context.Context, as *record.Assignment) error {
	until := s.cfg.Now().Add(s.cfg.Lease)
	if err := s.cfg.Journal.Renew(context.WithoutCancel(ctx), s.spec.ID, as.ID, until); err != nil {
		return fmt.Errorf("renew %s: %w", as.ID, err)
	}
	as.LeaseUntil = until
	return nil
}

// noteExpired tells of the leases that have ended without an answer since it was called last. Call it before a lease is renewed or
// its question answered. It looks at the leases only if one may have ended, which is once for each at most.
func (s *ledger) noteExpired() {
	now := s.cfg.Now()
	if now.Before(s.soonest) {
		return
	}
	n, soonest := 0, now.Add(s.cfg.Lease)
	for _, as := range s.asked.open {
		switch until := as.LeaseUntil; {
		case until.After(now):
			if until.Before(soonest) {
				soonest = until
			}
		case until.After(s.looked) && !s.looked.IsZero() && !s.revoked[as.Annotator]:
			n++
		}
	}
	s.looked, s.soonest = now, soonest
	if n > 0 {
		s.cfg.Expired(n)
	}
}

// ageing reports whether half of an assignment's lease is gone.
func (s *ledger) ageing(as *record.Assignment) bool {
	return as.LeaseUntil.Sub(s.cfg.Now()) < s.cfg.Lease/2
}

// awaited returns the assignments whose answers will count: those under a live lease, by N,
// and then fresh, without those of people who are left out, those that are put off and but, which may be nil.
// Once people are taken in again, theirs are among them.
func (s *ledger) awaited(fresh []record.Assignment, but *record.Assignment) iter.Seq[*record.Assignment] {
	return func(yield func(*record.Assignment) bool) {
		for as := range s.asked.live(s.cfg.Now()) {
			if as != but && !s.log.how[as.Annotator].Out && !s.asked.putOff(as) && !yield(as) {
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

// budgetLeased reports whether the answers that are awaited, with those to fresh and without that to but, cover
// what is left of the budget.
func (s *ledger) budgetLeased(fresh []record.Assignment, but *record.Assignment) bool {
	if s.spec.Budget == 0 {
		return false
	}
	n := s.log.all.answers
	for as := range s.awaited(fresh, but) {
		if s.room(as.Annotator, 0) > 0 { // else their part is over: a question that was put off for another one stays open
			n++
		}
	}
	return n >= s.spec.Budget
}

// room returns how many questions more the annotator may be asked, beside n of which the
// answers are awaited.
func (s *ledger) room(who idrl.AnnotatorID, n int) int {
	if s.spec.AnswersEach == 0 {
		return math.MaxInt
	}
	mine := s.log.mine[who]
	return s.spec.AnswersEach - mine.answers - mine.skipped - n
}

// reopened returns assignments that ask again what the annotator withdrew,
// where that has not been done yet.
func (s *ledger) reopened(who idrl.AnnotatorID) (out []record.Assignment) {
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

// lastAsked returns the last questions that the annotator answered and, as if they had seen them already, those that they hold and
// those of fresh, newest first: those that they remember. One that was put off comes among the newest, since it may be shown next, and
// one that is withdrawn was never seen. What it returns is valid until the next call.
func (s *ledger) lastAsked(who idrl.AnnotatorID, fresh []record.Assignment) []idrl.Query {
	out := s.last[:0]
	for _, as := range slices.Backward(fresh) {
		out = append(out, as.Query)
	}
	for _, as := range slices.Backward(s.asked.openOf(who)) {
		out = append(out, as.Query)
	}
	for _, as := range slices.Backward(s.asked.of[who]) {
		if len(out) >= learning.Remembered {
			break
		}
		if as.Answer != "" {
			out = append(out, as.Query)
		}
	}
	s.last = out
	return out
}

// recentClips returns the clips of the last questions of everybody who holds one now, in
// order: what the questions of a new generation will be compared with.
func (s *ledger) recentClips() (out []idrl.ClipID) {
	has, done := map[idrl.ClipID]bool{}, map[idrl.AnnotatorID]bool{}
	for _, open := range s.asked.open {
		if done[open.Annotator] {
			continue
		}
		done[open.Annotator] = true
		for _, q := range s.lastAsked(open.Annotator, nil) {
			for _, id := range q.Clips {
				if !has[id] {
					has[id], out = true, append(out, id)
				}
			}
		}
	}
	return out
}

// append writes rows to the journal. The requests may be cancelled while they are
// being written; the rows then still count, so the write must not be.
func (s *ledger) append(ctx context.Context, rows []record.Row) error {
	if len(rows) == 0 {
		return nil
	}
	if err := s.cfg.Journal.Append(context.WithoutCancel(ctx), s.spec.ID, rows...); err != nil {
		return fmt.Errorf("append log row %d: %w", rows[0].Answer.Seq, err)
	}
	return nil
}

func (s *ledger) publish(kind live.EventKind, annotator idrl.AnnotatorID) {
	s.cfg.Publisher.Publish(s.spec.ID, live.Event{Kind: kind, Seq: s.log.seq(), Annotator: annotator})
}
