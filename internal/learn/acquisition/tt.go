package acquisition

import "math"

// TT sets the leader against its top challenger: IDRL's second step for the pair
// of the leader and the policy with the highest expected gain over it,
//
//	j* = argmax_j h(a_j − a_L, s_j),  h(m, s) = m Φ(m/s) + s φ(m/s),
//
// among all policies of the table; of equal ones the first. Source:
// docs/methods.md, section 1.3, after top-two sampling (Russo 2016) and TTEI (Qin
// et al. 2017).
type TT struct{}

var _ Function = TT{}

// Score implements Function. If no policy can turn out better than the leader
// every value is 0.
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

// against stores what the answer to each query tells of the difference of the
// returns of policies i and j in dst, as expectedReduction does, and returns the pair.
func (t *Table) against(dst []float64, i, j int, best bool) Pair {
	delta := t.delta(i, j)
	p := Pair{First: i, Second: j, Var: t.variance(delta)}
	t.expectedReduction(dst, delta, best)
	return p
}

// std returns the standard deviation of the difference of the returns of policies
// i and j, up to rounding.
func (t *Table) std(i, j int) float64 { return math.Sqrt(t.spread(i, j)) }
