package acquisition

import "tiebreak/internal/idrl"

// EVR is the expected volume removed from the belief (Sadigh et al. 2017): the
// probability of the less probable of the two answers,
//
//	min(Z(a), Z(b)),
//
// under m_q and v_q. If the likelihood gives densities in place of probabilities
// they are divided by their sum. It needs comparisons. It is largest where both answers are
// equally probable, whether or not the answer has information about the reward. Source:
// docs/methods.md, section 1.2.
type EVR struct {
	// Paper computes the probability from the mean alone, as the authors' code:
	// Z(a) = (1 + m_q)/2 with m_q cut to [−1, 1]. Source: docs/paper-code.md,
	// section 4.
	Paper bool
}

var _ Function = EVR{}

// Score implements Function. It returns an error of kind Invalid if a query is
// not a comparison.
func (f EVR) Score(dst []float64, in *Input) (Pair, error) {
	t := in.Table
	t.clear(dst)
	choice := t.outcomes()
	for i, q := range t.queries {
		if !q.Kind.Comparison() {
			return noPair(), idrl.Errorf(idrl.Invalid, "expected volume removal needs comparisons, but query %s is a rating", q.ID)
		}
		m := t.mean[i]
		if f.Paper {
			p := (1 + min(1, max(-1, m))) / 2
			dst[i] = min(p, 1-p)
			continue
		}
		l := t.model.Likelihood(q.Query)
		a, b := prefers(l, m, t.vari[i])
		dst[i] = min(a, b)
		if choice[q.Kind] == nil && a+b > 0 {
			dst[i] /= a + b
		}
	}
	return noPair(), nil
}

// prefers returns the probabilities, or densities, of a and of b, much better or not.
func prefers(l idrl.Likelihood, m, v float64) (a, b float64) {
	for _, r := range idrl.Replies(l) {
		if r.Choice == idrl.ChoseA {
			a += chance(l, r, m, v)
		} else if r.Choice == idrl.ChoseB {
			b += chance(l, r, m, v)
		}
	}
	return a, b
}
