package session

import (
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
)

// objections returns the objections to the statement of regret about the present, without those
// that are expensive to find.
func (s *statements) objections() (out []stopping.Objection) {
	if s.gen == nil {
		return nil
	}
	if !s.fixedPolicies() && !s.answersTrained() {
		out = append(out, stopping.ObjectUntrained())
	}
	if lead := s.lead(); lead.Challenger.ID != "" {
		share := 0.0
		if span := s.present().Span; span > 0 {
			share = lead.Gain / span
		}
		out = append(out, stopping.ObjectUntested(s.called(lead.Challenger), s.called(lead.Incumbent), share))
	}
	if s.unpredicted() {
		out = append(out, stopping.ObjectUnpredicted())
	}
	return append(out, s.otherReturn()...)
}

// otherReturn compares policies of imported rollouts by the return that the session does not use: the sum over an episode, or
// the mean of a step. It objects if by that return the recommended policy loses more than the tolerance under the posterior
// mean. It also objects if the session is sure enough of a small loss by its own return, and not by the other one.
func (s *statements) otherReturn() []stopping.Objection {
	if s.cfg.Steps == nil {
		return nil
	}
	sums, other := s.spec.Return == idrl.SumReturn, idrl.SumReturn
	if sums {
		other = idrl.MeanReturn
	}
	a := s.learner.Otherwise(s.leadAfter(s.history), s.history.Averaged(), func(c idrl.Candidate) float64 {
		if sums {
			return 1 / s.cfg.Steps(c)
		}
		return s.cfg.Steps(c)
	})
	switch {
	case a.Loss > s.spec.Tolerance && sums:
		return []stopping.Objection{stopping.ObjectReturns(s.called(a.Best), s.called(a.Leader))}
	case a.Loss > s.spec.Tolerance:
		return []stopping.Objection{stopping.ObjectReturns(s.called(a.Leader), s.called(a.Best))}
	case !s.sure(a.Within) && s.sure(s.present().Within):
		return []stopping.Objection{stopping.ObjectOtherReturn(s.called(a.Leader), other, a.Within)}
	}
	return nil
}

// unasked objects if no question was asked about the difference between the best policies. Its cost is
// that of learning.Learner.Unasked.
func (s *statements) unasked() []stopping.Objection {
	leader, rival, feature, ok := s.learner.Unasked(s.leadAfter(s.history), s.spec.Doubt, s.spec.Tolerance*s.present().Span)
	if !ok {
		return nil
	}
	name := ""
	if feature >= 0 && s.features.version() == 0 {
		name = s.spec.Features[feature]
	}
	return []stopping.Objection{stopping.ObjectUnasked(s.called(leader), s.called(rival), name)}
}
