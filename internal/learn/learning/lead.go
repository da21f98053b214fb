package learning

import (
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/regret"
)

// A Lead says which of Policies.Known is recommended. Policies are indexes.
type Lead struct {
	Leader     int     // the recommended policy
	Incumbent  int     // the policy that challengers are compared with; Leader unless a challenger replaces it
	Challenger int     // a policy that is expected to be better, but lacks a duel with Incumbent; -1 if there is none
	Gain       float64 // expected return of Challenger less that of Incumbent
	Out        []bool  // by policy: it lost a duel; nil if all policies may lead
}

// Trials has the results of duels of policies.
type Trials interface {
	// Tested returns which of known may lead, because people were shown them before policies
	// were trained or because they won a duel with a policy that may; and which lost a duel.
	// Both are nil if all policies may lead.
	Tested(known []idrl.Candidate) (may, lost []bool)

	// Between returns the result of the duel of two policies. alike says that people cannot
	// distinguish them, so that there is no duel.
	Between(challenger, incumbent idrl.Candidate) (v Verdict, alike bool)
}

// LeadBy returns which policy leads under p: of those that may lead, the one with the highest
// mean return. A policy that may not lead, and is expected to be better by more than
// Config.Tolerance, is a challenger. It leads if it won a duel with the leader, or looks like
// it. There must be a policy.
func (l *Learner) LeadBy(p idrl.Posterior, t Trials) Lead {
	under, known := l.policies.represented(), l.policies.Known()
	may, lost := t.Tested(known)
	if may == nil { // scores are not needed
		return unopposed(regret.Leader(p, under))
	}
	scores := regret.Scores(p.Mean(nil), under)
	out := unopposed(highest(scores, func(i int) bool { return may[i] && !lost[i] }))
	out.Out = lost
	if out.Leader < 0 { // no policy that may lead is known any more
		return unopposed(regret.Leader(p, under))
	}
	span := spanOf(scores)
	for {
		c := highest(scores, func(i int) bool { return !may[i] && !lost[i] })
		if c < 0 || !(scores[c]-scores[out.Incumbent] > l.cfg.Tolerance*span) {
			return out
		}
		switch v, alike := t.Between(known[c], known[out.Incumbent]); {
		case v == Kept:
			lost[c] = true
			continue
		case v == Took, alike:
			out.Leader = c
		default:
			out.Challenger, out.Gain = c, scores[c]-scores[out.Incumbent]
		}
		return out
	}
}

// unopposed returns the lead of a policy without a challenger.
func unopposed(leader int) Lead { return Lead{Leader: leader, Incumbent: leader, Challenger: -1} }

// HighestOf returns which of the known policies that may lead has the highest mean return under p, by index; -1 if none may.
func (l *Learner) HighestOf(p idrl.Posterior, may []bool) int {
	return highest(regret.Scores(p.Mean(nil), l.policies.represented()), func(i int) bool { return may[i] })
}

// highest returns the place of the highest of scores among those that is accepts, the first of
// equals; -1 if there is none.
func highest(scores []float64, is func(i int) bool) int {
	best := -1
	for i, s := range scores {
		if is(i) && !math.IsInf(s, -1) && (best < 0 || s > scores[best]) {
			best = i
		}
	}
	return best
}

// spanOf returns the span of the scores that are finite.
func spanOf(scores []float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range scores {
		if !math.IsInf(s, -1) {
			low, high = min(low, s), max(high, s)
		}
	}
	return high - low
}

// remaining returns the known policies without those that lost a duel, as they are and under the representation, and
// the index of the leader among them.
func (l *Learner) remaining(by Lead) (known, under []idrl.Candidate, leader int) {
	all, represented := l.policies.Known(), l.policies.represented()
	if by.Out == nil {
		return all, represented, by.Leader
	}
	for i := range all {
		if by.Out[i] {
			continue
		}
		if i == by.Leader {
			leader = len(known)
		}
		known, under = append(known, all[i]), append(under, represented[i])
	}
	return known, under, leader
}

// different returns how many different policies a list of known ones has.
func (k *Policies) different(list []idrl.Candidate) int {
	var kept []idrl.Candidate
	for _, c := range list {
		if !k.in(kept, c) {
			kept = append(kept, c)
		}
	}
	return len(kept)
}
