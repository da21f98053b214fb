package session

import (
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
)

// conditions are the strategies of a session that compares several.
type conditions struct {
	controls []acquisition.Method // of SessionSpec.Controls
	random   acquisition.Method   // draws what is held out
}

// newConditions returns the conditions of a session. Its error is of kind Invalid.
func newConditions(spec idrl.SessionSpec) (c conditions, err error) {
	if c.controls, err = acquisition.Controls(spec); err != nil {
		return c, err
	}
	c.random, err = acquisition.Find("uniform")
	return c, err
}

// A draw is how a question is chosen.
type draw struct {
	condition record.Condition
	method    *acquisition.Method // nil for the session's own
	askable   []idrl.QueryVector
}

// draw draws how question n is chosen, and returns the queries to choose from for who, beside fresh and pending. The draw depends
// on the session's seed and n alone, so that it is independent of the annotator and their answers. If a question is to be held
// out and none can be, it is chosen by a strategy. Its error is that of the journal.
func (s *selector) draw(n int64, who idrl.AnnotatorID, fresh []record.Assignment, pending []idrl.QueryVector) (draw, error) {
	if s.spec.HeldOut > 0 && rng.New(s.spec.Seed, "held out", uint64(n)).Float64() < s.spec.HeldOut { // #nosec G115 -- assignments are counted from 1
		held, err := s.holdOut(who, fresh, pending)
		if err != nil || len(held) > 0 {
			return draw{condition: record.HeldOut, method: &s.conditions.random, askable: held}, err
		}
	}
	askable, err := s.teaching(who, fresh, pending)
	if err != nil || !s.spec.Compares() {
		return draw{askable: askable}, err
	}
	u := rng.New(s.spec.Seed, "condition", uint64(n)).Float64() // #nosec G115 -- as above
	for i, c := range s.spec.Controls {
		if u -= c.Share; u < 0 {
			return draw{condition: record.Condition(c.Strategy), method: &s.conditions.controls[i], askable: askable}, nil
		}
	}
	return draw{condition: record.Condition(s.spec.Acquisition), askable: askable}, nil
}

// teaching returns the queries that may be put to who and be learnt from; of an arena that is tested, those that decide most, and
// of one with tasks, those of the task that was asked about least. Its error is that of the journal.
func (s *selector) teaching(who idrl.AnnotatorID, fresh []record.Assignment, pending []idrl.QueryVector) ([]idrl.QueryVector, error) {
	s.queries.renew(s.gen, &s.spec)
	out, err := s.askable(who, fresh, pending, s.queries.places, teaches)
	if err == nil && len(out) == 0 && s.queries.places != nil { // better a question about what is reserved than none
		return s.askable(who, fresh, pending, nil, teaches)
	}
	return s.queries.balanced(s.deciding(out, pending), s.vectors, s.asked.times, fresh), err
}

// holdOut returns the queries that can be held out: no annotator was asked them before, so that nothing was learnt
// from them: those about reserved trajectories, or any if there is none of these. Its error is that of the journal.
func (s *selector) holdOut(who idrl.AnnotatorID, fresh []record.Assignment, pending []idrl.QueryVector) ([]idrl.QueryVector, error) {
	s.queries.renew(s.gen, &s.spec)
	if s.queries.places != nil {
		if out, err := s.neverAsked(who, fresh, pending, s.queries.places); err != nil || len(out) > 0 {
			return out, err
		}
	}
	if !s.canHoldOut() {
		return nil, nil
	}
	return s.neverAsked(who, fresh, pending, nil)
}

// neverAsked returns the queries that may be put to who and that no annotator was asked yet; of places, unless they are nil, those for tests.
func (s *selector) neverAsked(who idrl.AnnotatorID, fresh []record.Assignment, pending []idrl.QueryVector, places []place) (out []idrl.QueryVector, err error) {
	askable, err := s.askable(who, fresh, pending, places, tests)
	now := map[idrl.QueryID]bool{}
	for _, as := range fresh {
		now[as.Query.ID] = true
	}
	for _, q := range askable {
		if s.asked.times[q.ID] == 0 && !now[q.ID] {
			out = append(out, q)
		}
	}
	return out, err
}

// purpose returns the purpose of a question of condition c, which is empty where there is one alone.
func (s *selector) purpose(c record.Condition) record.Purpose {
	switch {
	case c == record.HeldOut:
		return record.ForHeldOut
	case record.StrategyOf(s.spec, c) == s.conditions.random.Name:
		return record.AtRandom
	}
	return record.ForValue
}

// canHoldOut reports whether at least half of the questions of the generation are left to
// learn from after one more is held out.
func (s *selector) canHoldOut() bool {
	n := 1
	for id := range s.asked.heldOut {
		if _, ok := s.queries.index[id]; ok {
			n++
		}
	}
	return 2*n <= len(s.gen.Queries)
}
