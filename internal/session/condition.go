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

// draw returns how question n is chosen, of askable and beside fresh: by the session's seed and n alone, so
// that it says nothing about the annotator or their answers. Only where nothing can be held
// out is a question chosen as if it were not to be.
func (s *selector) draw(n int64, askable []idrl.QueryVector, fresh []record.Assignment) draw {
	if !s.spec.Compares() {
		return draw{askable: askable}
	}
	if rng.New(s.spec.Seed, "held out", uint64(n)).Float64() < s.spec.HeldOut { // #nosec G115 -- assignments are counted from 1
		if new := s.neverAsked(askable, fresh); len(new) > 0 && s.canHoldOut() {
			return draw{condition: record.HeldOut, method: &s.conditions.random, askable: new}
		}
	}
	u := rng.New(s.spec.Seed, "condition", uint64(n)).Float64() // #nosec G115 -- as above
	for i, c := range s.spec.Controls {
		if u -= c.Share; u < 0 {
			return draw{condition: record.Condition(c.Strategy), method: &s.conditions.controls[i], askable: askable}
		}
	}
	return draw{condition: record.Condition(s.spec.Acquisition), askable: askable}
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

// neverAsked returns those of queries that were put to nobody, so that nothing was learnt from
// them.
func (s *selector) neverAsked(queries []idrl.QueryVector, fresh []record.Assignment) (out []idrl.QueryVector) {
	now := map[idrl.QueryID]bool{}
	for _, as := range fresh {
		now[as.Query.ID] = true
	}
	for _, q := range queries {
		if s.asked.times[q.ID] == 0 && !now[q.ID] {
			out = append(out, q)
		}
	}
	return out
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
