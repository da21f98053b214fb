package learning

import (
	"tiebreak/internal/idrl"
	"tiebreak/internal/regret"
)

// Otherwise returns the recommended policy and the one that would be if feature expectations were
// times(c)·Mu, and which share of the span the former then loses to it under the posterior mean.
// There must be a policy.
func (l *Learner) Otherwise(times func(idrl.Candidate) float64) (leader, other idrl.Candidate, loss float64) {
	known, under := l.policies.Known(), l.policies.represented()
	each := make([]float64, len(known))
	for j, c := range known {
		each[j] = times(c)
	}
	k := regret.Leader(l.posterior, under)
	best, loss := regret.Otherwise(l.posterior, under, each, k)
	return known[k], known[best], loss
}

// Unasked returns the recommended policy and the one between which what was not asked about
// decides (regret.Asked.Decides), and the feature that has most of it, -1 if none has. ok is false
// if there is none. The cost is O(d³), and O(d²) for each known policy, of which there must be one.
func (l *Learner) Unasked(doubt, least float64) (leader, rival idrl.Candidate, feature int, ok bool) {
	asked, ok := regret.NewAsked(l.cfg.Model.Prior(), l.posterior)
	if !ok {
		return leader, rival, -1, false
	}
	known, under := l.policies.Known(), l.policies.represented()
	k := regret.Leader(l.posterior, under)
	j, feature, ok := asked.Decides(under, k, doubt, least)
	return known[k], known[j], feature, ok
}
