package session

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/view"
)

// A request is work for the session's goroutine.
type request struct {
	do func() // all of a request that adds no row to the log; nil for others

	write func() (logEntry, error)  // makes the row, and changes nothing
	reply func(view.Receipt, error) // called once, when what it says is durable
	after func()                    // called after the reply, unless that is an error
}

// A logEntry is a row for the log, or the receipt of one that is there already.
type logEntry struct {
	receipt view.Receipt
	row     *record.Row        // nil if there is none to add
	history *posterior.History // after the row
}

// An applied request has changed the memory, and is not in the journal yet.
type applied struct {
	request
	logEntry
	err error // to be replied

	before *posterior.History // before the row
	point  bool               // the row is a training point
	shown  []idrl.ClipID      // by the next questions alone
}

// A group is full after so many requests, or after so much time: its first answer is
// acknowledged only after the questions that follow its last one are selected.
const (
	maxGroup     = 64
	maxGroupTime = 5 * time.Millisecond
)

// An inbox holds the requests to the session's goroutine.
type inbox struct {
	requests    chan request
	stopped     chan struct{} // closed when Run has returned
	ending      error         // set before that: errRests or errSuperseded, if the next run serves what this one has not
	waiting     []request     // to be served before what is in requests
	retrySingly int           // how many of them are to be served one at a time
}

// call runs f on the session's goroutine and returns its result.
func call[T any](ctx context.Context, to *inbox, f func() (T, error)) (T, error) {
	return ask(ctx, to, func(reply func(T, error)) request { return request{do: func() { reply(f()) }} })
}

// ask sends the session a request and returns its reply.
func ask[T any](ctx context.Context, to *inbox, build func(reply func(T, error)) request) (T, error) {
	type result struct {
		value T
		err   error
	}
	c := make(chan result, 1) // buffered, so that the session never waits for us
	var zero T
	select {
	case to.requests <- build(func(v T, err error) { c <- result{v, err} }):
	case <-to.stopped:
		return zero, to.stoppedError()
	case <-ctx.Done():
		return zero, ctx.Err()
	}
	select {
	case r := <-c:
		return r.value, r.err
	case <-to.stopped:
		select {
		case r := <-c: // both happened
			return r.value, r.err
		default:
			return zero, to.stoppedError()
		}
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}

// errRests is of requests to a session that has come to rest.
var errRests = idrl.Errorf(idrl.Unavailable, "the session is being loaded again; try again")

var errStopped = idrl.Errorf(idrl.Unavailable, "the session is being started again; try again")

// stoppedError is why a session that has stopped takes no requests.
func (b *inbox) stoppedError() error {
	return cmp.Or(b.ending, errStopped)
}

// serve handles a request. If it adds a row, the waiting requests that add rows too are
// handled with it: each is applied in memory, after the one before it, and then one
// write puts all rows into the journal. Other requests are served after that write, so
// that they never see a state that is ahead of the journal.
func (s *Session) serve(ctx context.Context, r request) {
	if r.do != nil {
		r.do()
		return
	}
	began := time.Now()
	group := []applied{s.apply(ctx, r)}
	var later []request
	full := func() bool { return len(group)+len(later) >= maxGroup || time.Since(began) > maxGroupTime }
	for s.retrySingly == 0 && !full() && s.training.ready == nil && !s.mustWait() {
		r, ok := s.next()
		if !ok {
			runtime.Gosched() // answers that sockets have read by now share the write
			if r, ok = s.next(); !ok {
				break
			}
		}
		if r.do != nil {
			later = append(later, r)
		} else {
			group = append(group, s.apply(ctx, r))
		}
	}
	s.retrySingly = max(0, s.retrySingly-1)
	s.commit(ctx, group)
	for i, r := range later {
		if s.mustWait() { // nothing may happen before that
			s.waiting = append(s.waiting, later[i:]...)
			return
		}
		r.do()
	}
}

// next returns the request that has waited longest, if there is one.
func (b *inbox) next() (r request, ok bool) {
	if len(b.waiting) > 0 {
		r, b.waiting = b.waiting[0], b.waiting[1:]
		return r, true
	}
	select {
	case r = <-b.requests:
		return r, true
	default:
		return request{}, false
	}
}

// apply changes the memory as a request asks, and selects the next questions of the
// annotator.
func (s *Session) apply(ctx context.Context, r request) applied {
	st := applied{request: r, before: s.history}
	st.logEntry, st.err = r.write()
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
		st.shown = append(st.shown, s.hand(as)...)
	}
	return st
}

// rollback undoes apply of the request that was applied last.
func (s *Session) rollback(st applied) {
	if st.row == nil {
		return
	}
	for _, as := range st.row.Next {
		s.asked.drop()
		s.queries.forget(as.Annotator)
	}
	for _, id := range st.shown {
		delete(s.shelf.asked, id)
	}
	if st.point {
		s.training.points = s.training.points[:len(s.training.points)-1]
	}
	s.know(st.before)
	if a := st.row.Answer; a.Reply() {
		s.asked.reopen(a.Assignment)
	}
	s.log.drop()
	// What was computed for the row must not be taken for that of another one, which will have its number.
	s.now, s.stop, s.clear, s.toLearn = present{}, stopState{}, clarity{}, toLearn{}
	s.tested, s.evidence, s.fitted = contest{}, evidence{}, featureTest{}
	if st.row.After.Regret.Definition != 0 {
		s.regret = s.regret[:len(s.regret)-1]
	}
}

// commit makes the applied requests durable and replies. If they cannot be recorded
// together they are rolled back and tried again one by one, so that one that fails does
// not harm the others.
func (s *Session) commit(ctx context.Context, group []applied) {
	rows, err := s.rows(group)
	if err == nil {
		err = s.append(ctx, rows)
	}
	if err != nil {
		for _, st := range slices.Backward(group) {
			s.rollback(st)
		}
		if s.noteSuperseded(ctx, err) {
			for _, st := range group {
				st.reply(view.Receipt{}, errSuperseded)
			}
			return
		}
		if len(group) == 1 {
			group[0].reply(view.Receipt{}, err)
			return
		}
		again := make([]request, len(group))
		for i, st := range group {
			again[i] = st.request
		}
		s.waiting, s.retrySingly = append(again, s.waiting...), len(again)
		return
	}
	for _, st := range group {
		if st.row != nil {
			s.notePrediction(s.features, st.row.Answer, st.before.Posterior().Mean(nil), st.row.After.Foretold)
		}
		st.reply(st.receipt, st.err)
	}
	for _, st := range group {
		if st.err == nil {
			st.after()
		}
	}
}

// rows returns the rows of the applied requests. Of those with one slot only the last has the
// encoded belief, since it alone is kept.
func (s *Session) rows(group []applied) (rows []record.Row, err error) {
	encoded := map[int]bool{} // slots
	rows = make([]record.Row, 0, len(group))
	for _, st := range slices.Backward(group) {
		if st.row == nil {
			continue
		}
		row := *st.row
		if slot := row.After.Slot; !encoded[slot] {
			if row.After.Belief, err = s.encode(st.history); err != nil {
				return nil, err
			}
			encoded[slot] = true
		}
		rows = append(rows, row)
	}
	slices.Reverse(rows)
	return rows, nil
}
