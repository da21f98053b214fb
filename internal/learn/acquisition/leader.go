package acquisition

import "gonum.org/v1/gonum/floats"

// Leader compares the leader of the candidates with one other: it is IDRL's second step for
// the candidate with the highest mean return and the first of the others whose return can
// differ from it. With the mean-optimal policy and one Thompson policy as candidates it
// needs the fewest solves of all functions that use policies.
// Source: docs/methods.md, section 1.4.
type Leader struct{}

var _ Function = Leader{}

// Score implements Function. If no candidate can differ from the leader every
// value is 0.
func (Leader) Score(dst []float64, in *Input) (Pair, error) {
	t := in.Table
	t.clear(dst)
	n := in.Candidates
	if n < 2 {
		return noPair(), nil
	}
	leader := floats.MaxIdx(t.returns()[:n])
	for j := range n {
		if j != leader && t.variance(t.delta(leader, j)) > 0 {
			return t.against(dst, leader, j, in.best), nil
		}
	}
	return noPair(), nil
}
