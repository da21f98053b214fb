package learning

import (
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/regret"
)

// A Lead says which of Policies.Known leads, by index.
type Lead struct {
	Leader     int     // the recommended policy
	Incumbent  int     // that won the last duel; most often Leader, or else that looks like it
	Challenger int     // expected to be better, and not compared with it yet; -1 if there is none
	Gain       float64 // of the challenger, expected: a difference of returns
	Out        []bool  // policies that lost a duel; nil if none did
}

// Trials say what is known of policies from comparisons of one with another.
type Trials interface {
	// Tested returns which of known may lead because people were shown them before policies were
	// trained, or because they won a duel with one that might; and which lost one. It is nil where all policies may lead.
	Tested(known []idrl.Candidate) (may, lost []bool)

	// Between returns how a duel of two policies stands. alike says that a person could not tell
	// them apart: there is nothing to ask.
	Between(challenger, incumbent idrl.Candidate) (v Verdict, alike bool)
}

// LeadBy returns which policy leads under p: the one with the highest mean return of those that
// may lead. One that may not, and is expected to be better by more than the tolerance of
// statements, is a challenger; it leads if it won a duel with the leader, or looks like it. There must be a policy.
func (l *Learner) LeadBy(p idrl.Posterior, t Trials) Lead {
	under, known := l.policies.represented(), l.policies.Known()
	may, lost := t.Tested(known)
	if may == nil { // scores are not needed
		return unopposed(regret.Leader(p, under))
	}
	scores := regret.Scores(p.Mean(nil), under)
	out := unopposed(highest(scores, func(i int) bool { return may[i] && !lost[i] }))
	out.Out = lost
	if out.Leader < 0 { // those who won are not among the known any more
		return unopposed(regret.Leader(p, under))
	}
	span := finite(scores)
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

// finite returns the span of the scores of policies that may lead.
func finite(scores []float64) float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range scores {
		if !math.IsInf(s, -1) {
			low, high = min(low, s), max(high, s)
		}
	}
	return high - low
}

// left returns the known policies but those that lost a duel, as they are and under the representation, and the place
// of the leader among them.
func (l *Learner) left(by Lead) (known, under []idrl.Candidate, leader int) {
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
