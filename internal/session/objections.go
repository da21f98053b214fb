package session

import (
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/regret"
)

// fixedPolicies reports whether no policy is trained: all there are were uploaded, or acted in rollouts
// that were imported.
func (s *Session) fixedPolicies() bool { return s.spec.Uploads() || s.cfg.Steps != nil }

// answersTrained reports whether the generation in use was trained on answers of this session that count.
func (s *Session) answersTrained() bool { return s.gen != nil && s.history.Before(s.gen.BasedOn+1) > 0 }

// objections returns what is to be said against the statement of regret about the present, but for
// what costs much.
func (s *Session) objections() (out []idrl.Objection) {
	if s.gen == nil {
		return nil
	}
	if !s.fixedPolicies() && !s.answersTrained() {
		out = append(out, idrl.ObjectUntrained())
	}
	return append(out, s.otherReturn()...)
}

// otherReturn objects if the recommended policy loses more than is tolerated to another one by the
// return by which the session does not compare them.
func (s *Session) otherReturn() []idrl.Objection {
	if s.cfg.Steps == nil {
		return nil
	}
	known, leader := s.knownPolicies()
	times := make([]float64, len(known))
	for j, c := range known {
		if times[j] = s.cfg.Steps(c); s.spec.Return == idrl.SumReturn {
			times[j] = 1 / times[j]
		}
	}
	best, loss := regret.Otherwise(s.learner.Posterior(), known, times, leader)
	if loss <= s.spec.Tolerance {
		return nil
	}
	mean, sum := s.called(known[leader]), s.called(known[best])
	if s.spec.Return == idrl.SumReturn {
		mean, sum = sum, mean
	}
	return []idrl.Objection{idrl.ObjectReturns(mean, sum)}
}

// unasked objects if what decides between the best policies was not asked about. Its cost is
// O(d³), and O(d²) for each known policy.
func (s *Session) unasked() []idrl.Objection {
	known, leader := s.knownPolicies()
	asked, ok := regret.NewAsked(s.features.model.Prior(), s.learner.Posterior())
	if !ok {
		return nil
	}
	least := s.spec.Tolerance * s.present().Span
	rival, feature, ok := asked.Decides(known, leader, s.spec.Doubt, least)
	if !ok {
		return nil
	}
	name := ""
	if feature >= 0 && s.features.version() == 0 {
		name = s.spec.Features[feature]
	}
	return []idrl.Objection{idrl.ObjectUnasked(s.called(known[leader]), s.called(known[rival]), name)}
}

// knownPolicies returns the known policies with their feature expectations under the features in
// use, and the index of the recommended one. There must be a generation.
func (s *Session) knownPolicies() (known []idrl.Candidate, leader int) {
	known = slices.Clone(s.learner.Policies().Known())
	best := s.learner.Recommend().ID
	for j := range known {
		known[j].Mu = s.features.mu(known[j])
		if known[j].ID == best {
			leader = j
		}
	}
	return known, leader
}

// called returns what researchers call a policy.
func (s *Session) called(c idrl.Candidate) string {
	if t := s.title(c); t != "" {
		return t
	}
	return string(c.ID)
}
