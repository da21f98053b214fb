package learning

import (
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/regret"

	"gonum.org/v1/gonum/floats"
)

// Another is the statement about the recommended policy by another return.
type Another struct {
	Leader, Best idrl.Candidate // the recommended policy, and the best one by the other return under the posterior mean
	Loss         float64        // of Leader by the other return under the posterior mean, a share of the span
	Within       float64        // idrl.Regret.Within of Leader by the other return
}

// Otherwise returns the statement of Regret for feature expectations times(c)·Mu, with the policy that leads
// by the return of the session. There must be a policy.
func (l *Learner) Otherwise(by Lead, draws idrl.Posterior, times func(idrl.Candidate) float64) (out Another) {
	known, under, leader := l.remaining(by)
	under = slices.Clone(under)
	for j := range under {
		mu := slices.Clone(under[j].Mu)
		floats.Scale(times(known[j]), mu)
		under[j].Mu, under[j].Mus = mu, nil
	}
	best, loss := regret.Loss(l.posterior, under, leader)
	return Another{known[leader], known[best], loss, l.outlook.Statement(draws, under, leader).Within}
}

// Unasked returns the policy that leads, a rival that may be better because of directions of the
// weights that were not asked about, and the feature with at least half of the variance along them, -1
// if there is none (regret.Asked.Decides). ok is false if there is no rival. The cost is O(d³), and
// O(d²) for each known policy. There must be a policy.
func (l *Learner) Unasked(by Lead, doubt, least float64) (leader, rival idrl.Candidate, feature int, ok bool) {
	asked, ok := regret.NewAsked(l.cfg.Model.Prior(), l.posterior)
	if !ok {
		return leader, rival, -1, false
	}
	known, under, k := l.remaining(by)
	j, feature, ok := asked.Decides(under, k, doubt, least)
	return known[k], known[j], feature, ok
}
