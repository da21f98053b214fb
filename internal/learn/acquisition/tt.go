package acquisition

import "math"

// TT compares the leader with its top challenger: it is IDRL's second step for the pair of
// the leader and the policy with the highest expected gain over it,
//
//	j* = argmax_j h(a_j − a_L, s_j),  h(m, s) = m Φ(m/s) + s φ(m/s),
//
// among all policies of the table, the first of equals. Source:
// docs/methods.md, section 1.3, after top-two sampling (Russo 2016) and TTEI (Qin
// et al. 2017).
type TT struct{}

var _ Function = TT{}

// Score implements Function. If no policy can be better than the leader every value is 0.
func (TT) Score(dst []float64, in *Input) (Pair, error) {
	t := in.Table
	t.clear(dst)
	r := t.rivals()
	best, most := -1, 0.0
	for k := range r.policy {
		if g := gain(r.lag[k], math.Sqrt(r.vari[k])); g > most {
			best, most = k, g
		}
	}
	if best < 0 {
		return noPair(), nil
	}
	return t.against(dst, r.leader, r.policy[best], in.best), nil
}

// against stores the expected reduction of the variance of the difference of the returns of
// policies i and j by the answer to each query in dst, length Q, and returns the pair.
func (t *Table) against(dst []float64, i, j int, best bool) Pair {
	delta := t.delta(i, j)
	p := Pair{First: i, Second: j, Var: t.variance(delta)}
	t.expectedReduction(dst, delta, best)
	return p
}

// std returns the standard deviation of the difference of the returns of policies
// i and j, up to rounding.
func (t *Table) std(i, j int) float64 { return math.Sqrt(t.spread(i, j)) }
