package session

import (
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// repeatLag is the least number of questions of a person between a question and its planned repeat, so that
// they do not remember their answer.
const repeatLag = 15

// repeat returns what the annotator is asked a second time, with the sides swapped, if that is
// due: every SessionSpec.RepeatEvery of their questions, one that they have answered and that
// was not repeated yet. n is the number of the assignment. Like choose it is a function of the
// log and the assignments so far.
func (s *selector) repeat(who idrl.AnnotatorID, n int64, fresh []record.Assignment) (as record.Assignment, ok bool) {
	if s.spec.RepeatEvery == 0 {
		return as, false
	}
	var own []*record.Assignment
	times := map[idrl.QueryID]int{}
	note := func(a *record.Assignment) {
		if a.Annotator == who && a.Reopens == "" {
			own = append(own, a)
			times[a.Query.ID]++
		}
	}
	for _, a := range s.asked.of[who] {
		note(a)
	}
	for i := range fresh {
		note(&fresh[i])
	}
	if (len(own)+1)%s.spec.RepeatEvery != 0 {
		return as, false
	}
	var may []*record.Assignment
	wait := len(s.asked.openOf(who)) + len(fresh)
	for _, a := range own[:max(0, len(own)-repeatLag)] {
		if times[a.Query.ID] == 1 && s.told(a) && s.log.broken[a.Query.ID] == 0 && wait+s.since(a) >= repeatLag {
			may = append(may, a)
		}
	}
	if len(may) == 0 {
		return as, false
	}
	old := may[rng.New(s.spec.Seed, "repeat", uint64(n)).IntN(len(may))]
	as = s.lease(who, n, old.Query)
	as.Left, as.Order, as.Condition = opposite(old.Left), old.Order.Reversed(), old.Condition
	as.Why = record.Why{Purpose: record.ForRepeat, BasedOn: s.gen.BasedOn, AfterSeq: s.log.seq()}
	return as, true
}

// since returns the number of rows of the person in the log after their answer to a.
func (s *ledger) since(a *record.Assignment) int {
	of := s.log.of[a.Annotator]
	i, _ := slices.BinarySearch(of, s.log.byID[a.Answer])
	return len(of) - 1 - i
}

// told reports whether an assignment has an answer that says something and stands.
func (s *ledger) told(a *record.Assignment) bool {
	if a.Answer == "" || s.log.undone[a.Answer] {
		return false
	}
	row := s.log.find(a.Answer)
	return row != nil && row.Informative()
}

// opposite returns the other side; empty of none.
func opposite(side idrl.Side) idrl.Side {
	switch side {
	case idrl.SideA:
		return idrl.SideB
	case idrl.SideB:
		return idrl.SideA
	}
	return side
}
