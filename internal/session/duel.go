package session

import (
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

// duel returns a question about clips of the challenger and of the incumbent, if there is a challenger and the
// answers that are awaited may leave the duel undecided. An annotator is not asked two such questions in a row. n is the number of
// the assignment. Like choose it is a function of the log and the assignments so far. Its error is that of the journal.
func (s *selector) duel(who idrl.AnnotatorID, n int64, fresh []record.Assignment) (as record.Assignment, ok bool, err error) {
	by := s.lead()
	if by.Challenger.ID == "" {
		return as, false, nil
	}
	if own := s.own(who, fresh); len(own) > 0 && own[len(own)-1].Why.Purpose == record.ForDuel {
		return as, false, nil
	}
	of := [2]int{s.families.of[by.Challenger.ID], s.families.of[by.Incumbent.ID]}
	d := (&trials{generation: s.generation, history: s.history}).duel(of[0], of[1])
	wants := d.Wants()
	for a := range s.awaited(fresh, nil) {
		if a.Why.Purpose == record.ForDuel && s.families.pair(a) == of {
			wants--
		}
	}
	if wants <= 0 {
		return as, false, nil
	}
	q, ok, err := s.duelQuery(who, fresh, of)
	if err != nil || !ok {
		return as, false, err
	}
	v, err := s.features.view.Query(q)
	if err != nil {
		return as, false, err
	}
	as = s.lease(who, n, q)
	as.Left = s.side(n)
	choice := learning.Choice{FirstID: by.Challenger.ID, SecondID: by.Incumbent.ID}
	choice.Rivals = 1
	p := s.learner.Posterior()
	work := make([]float64, p.Dim())
	choice.Mean, choice.Var = idrl.Moments(p, v.X, p.Mean(nil), work)
	as.Why, err = s.why(q, choice)
	as.Why.Purpose = record.ForDuel
	return as, err == nil, err
}

// duelQuery returns the question of a duel that shows best what the two policies do, of those that the person does not
// hold and that do not look like one of their last. If all do, it is one that they have not been asked for the longest
// time, but not lately. A pair of groups that they were shown mostOfPair times is not shown again: the duel waits, or
// other clips of the two show something else.
func (s *selector) duelQuery(who idrl.AnnotatorID, fresh []record.Assignment, of [2]int) (out idrl.Query, ok bool, err error) {
	if err := s.look(); err != nil {
		return out, false, err
	}
	pairs, _ := s.pairs(of[0], of[1])
	last := s.lastAsked(who, fresh)
	faults, err := s.faultsOf(pairs, last)
	if err != nil {
		return out, false, err
	}
	longest := 0
	for i, pair := range pairs {
		q := idrl.NewComparison(pair[0], pair[1])
		if s.log.broken[q.ID] > 0 || s.asked.heldOut[q.ID] > 0 || faults[i]&shownOften != 0 {
			continue
		}
		ago, err := s.agoOf(q, last)
		if err != nil {
			return out, false, err
		}
		if ago == 0 && faults[i] == 0 {
			return q, true, nil
		}
		if ago == 0 {
			ago = learning.Recent + len(last) + 1 // longer than that of any other
		}
		if ago > max(longest, learning.Recent) {
			out, longest, ok = q, ago, true
		}
	}
	return out, ok, nil
}

// faultsOf returns for each pair of clips whether a person who was asked those questions last, newest first, was shown
// the same pair of groups lately or often. Its errors are those of the journal.
func (s *selector) faultsOf(pairs [][2]idrl.Clip, asked []idrl.Query) ([]uint8, error) {
	out := make([]uint8, len(pairs))
	if !s.seesQuestions() || !s.sight.drawn {
		return out, nil
	}
	before, err := s.groupsOf(asked)
	if err != nil {
		return nil, err
	}
	groups := make([][2]int32, len(pairs))
	for i, pair := range pairs {
		for k, c := range pair {
			if groups[i][k], err = s.sight.group(c.ID); err != nil {
				return nil, err
			}
		}
	}
	shown, n := s.pairsShown(before), len(s.sight.founders)
	for i, g := range groups {
		if g[0] != none && g[1] != none {
			out[i] = shown[int(min(g[0], g[1]))*n+int(max(g[0], g[1]))]
		}
	}
	return out, nil
}

// agoOf returns how many questions ago one that looks like q was asked: 1 for the first of last; 0 if none of them does.
func (s *selector) agoOf(q idrl.Query, last []idrl.Query) (int, error) {
	for k, old := range last {
		same := old.ID == q.ID
		if !same {
			var err error
			if same, err = s.seenLately(q, []idrl.Query{old}); err != nil {
				return 0, err
			}
		}
		if same {
			return k + 1, nil
		}
	}
	return 0, nil
}
