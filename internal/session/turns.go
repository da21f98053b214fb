package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/posterior"
)

// A turn is what somebody wants of the session's goroutine.
type turn struct {
	do func() // the whole of a turn that adds no row to the log; nil for others

	draft func() (draft, error)     // makes the row, and changes nothing
	reply func(idrl.Receipt, error) // called once, when what it says is durable
	after func()                    // called after the reply, unless that is an error
}

// A draft is a row for the log, or the receipt of one that is there already.
type draft struct {
	receipt idrl.Receipt
	row     *idrl.Row          // nil if there is none to add
	history *posterior.History // after the row
}

// A step is a turn that was carried out in memory, not yet in the journal.
type step struct {
	turn
	draft
	err error // to be replied

	before *posterior.History // before the row
	point  bool               // the row is a training point
}

// A group is full after so many turns, or after so much time, for its first answer
// is not acknowledged before its last is chosen for.
const (
	maxGroup     = 64
	maxGroupTime = 5 * time.Millisecond
)

// call runs f on the session's goroutine and returns its result.
func call[T any](ctx context.Context, s *Session, f func() (T, error)) (T, error) {
	return ask(ctx, s, func(reply func(T, error)) turn { return turn{do: func() { reply(f()) }} })
}

// ask hands the session a turn and returns its reply.
func ask[T any](ctx context.Context, s *Session, turn func(reply func(T, error)) turn) (T, error) {
	type result struct {
		value T
		err   error
	}
	c := make(chan result, 1) // buffered, so that the session never waits for us
	var zero T
	gone := idrl.Errorf(idrl.Unavailable, "the session is being started again; try again")
	select {
	case s.inbox <- turn(func(v T, err error) { c <- result{v, err} }):
	case <-s.stopped:
		return zero, gone
	case <-ctx.Done():
		return zero, ctx.Err()
	}
	select {
	case r := <-c:
		return r.value, r.err
	case <-s.stopped:
		return zero, gone
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}

// serve carries out t. If t adds a row then those turns that wait and add rows too
// are carried out with it: each in memory, on what the one before it left, and then
// all in the journal by one write. Other turns come after that write, so that
// nobody meets a state that is ahead of the journal.
func (s *Session) serve(ctx context.Context, t turn) {
	if t.do != nil {
		t.do()
		return
	}
	began := time.Now()
	group := []step{s.carryOut(ctx, t)}
	var later []turn
	full := func() bool { return len(group)+len(later) >= maxGroup || time.Since(began) > maxGroupTime }
	for s.alone == 0 && !full() && s.training.ready == nil && !s.mustWait() {
		t, ok := s.next()
		if !ok {
			break
		}
		if t.do != nil {
			later = append(later, t)
		} else {
			group = append(group, s.carryOut(ctx, t))
		}
	}
	s.alone = max(0, s.alone-1)
	s.record(ctx, group)
	for i, t := range later {
		if s.mustWait() { // nothing may happen before that
			s.waiting = append(s.waiting, later[i:]...)
			return
		}
		t.do()
	}
}

// next returns the turn that has waited longest, if one waits.
func (s *Session) next() (t turn, ok bool) {
	if len(s.waiting) > 0 {
		t, s.waiting = s.waiting[0], s.waiting[1:]
		return t, true
	}
	select {
	case t = <-s.inbox:
		return t, true
	default:
		return turn{}, false
	}
}

// carryOut does in memory what t wants, and chooses what the annotator is asked
// next.
func (s *Session) carryOut(ctx context.Context, t turn) step {
	st := step{turn: t, before: s.history}
	st.draft, st.err = t.draft()
	if st.err != nil || st.row == nil {
		st.row = nil
		return st
	}
	a := st.row.Answer
	s.log.add(a)
	s.noteRegret(st.row.After.Regret)
	if a.Reply() {
		s.asked.close(a.Assignment, a.ID)
	}
	s.know(st.history)
	st.point = s.noteTrainingPoint()
	if !a.Decision() {
		st.row.Next = s.upcoming(ctx, a.Annotator)
	}
	for _, as := range st.row.Next {
		s.hand(as)
	}
	return st
}

// takeBack undoes carryOut of the last step that was carried out.
func (s *Session) takeBack(st step) {
	if st.row == nil {
		return
	}
	for range st.row.Next {
		s.asked.drop()
	}
	if st.point {
		s.training.points = s.training.points[:len(s.training.points)-1]
	}
	s.know(st.before)
	if a := st.row.Answer; a.Reply() {
		s.asked.reopen(a.Assignment)
	}
	s.log.drop()
	s.stop = stopState{}
	if st.row.After.Regret.Definition != 0 {
		s.regret = s.regret[:len(s.regret)-1]
	}
}

// record makes steps durable and replies. If they cannot be recorded together they
// are taken back and tried again one by one, so that one that is at fault does not
// harm the others.
func (s *Session) record(ctx context.Context, group []step) {
	var rows []idrl.Row
	for _, st := range group {
		if st.row != nil {
			rows = append(rows, *st.row)
		}
	}
	if err := s.append(ctx, rows); err != nil {
		for _, st := range slices.Backward(group) {
			s.takeBack(st)
		}
		if len(group) == 1 {
			group[0].reply(idrl.Receipt{}, err)
			return
		}
		again := make([]turn, len(group))
		for i, st := range group {
			again[i] = st.turn
		}
		s.waiting, s.alone = append(again, s.waiting...), len(again)
		return
	}
	for _, st := range group {
		if st.row != nil {
			s.notePrediction(s.features.view, st.row.Answer, st.before.Posterior())
		}
		st.reply(st.receipt, st.err)
	}
	for _, st := range group {
		if st.err == nil {
			st.after()
		}
	}
}

// append writes rows to the journal. The requests may be cancelled while they are
// being written; the rows then still count, so the write must not be.
func (s *Session) append(ctx context.Context, rows []idrl.Row) error {
	if len(rows) == 0 {
		return nil
	}
	if err := s.cfg.Journal.Append(context.WithoutCancel(ctx), s.spec.ID, rows...); err != nil {
		return fmt.Errorf("append log row %d: %w", rows[0].Answer.Seq, err)
	}
	return nil
}
