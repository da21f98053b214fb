package acquisition

import (
	"math"

	"tiebreak/internal/idrl"
)

// IGR values a query by the information that its answer y gives about the
// reward, I(y; θ | D) = I(y; u), in nats. If y is a number with Gaussian noise
// that is
//
//	−½ log(1 − v_q w_q),
//
// and if it is a choice among outcomes
//
//	H(Z) − E_u[H(p(·|u))],  u ~ N(m_q, v_q),
//
// the entropy of the answer less that which is left when the reward is known
// (Houlsby et al. 2011, "BALD"), integrated numerically. Source: the paper,
// appendix "Information gain on the reward"; reference "methods", section 1.2.
type IGR struct {
	// Paper makes the value the predictive variance of the answer, which orders
	// answers with Gaussian noise as the information does, and has no meaning
	// for others. Source: reference "authors-code", section 4.
	Paper bool
}

var _ Function = IGR{}

// Score implements Function.
func (f IGR) Score(dst []float64, in *Input) (Pair, error) {
	t := in.Table
	t.clear(dst)
	if f.Paper {
		t.predictive(dst, in.Observed)
		return noPair(), nil
	}
	known := t.entropies()
	for i, q := range t.queries {
		l, m, v := t.model.Likelihood(q), t.mean[i], t.vari[i]
		if k := known[q.Kind]; k != nil {
			dst[i] = max(0, entropy(l, m, v)-k.mean(m, v))
		} else {
			dst[i] = information(v*v*l.Info(m, v), v)
		}
	}
	return noPair(), nil
}

// entropies returns averagers of H(p(·|u)) for the kinds of query whose answers
// are choices.
func (t *Table) entropies() map[idrl.QueryKind]*averager {
	out := map[idrl.QueryKind]*averager{}
	choice := t.outcomes()
	for _, q := range t.queries {
		if choice[q.Kind] != nil && out[q.Kind] == nil {
			l := t.model.Likelihood(q)
			out[q.Kind] = &averager{func(u float64) float64 { return entropy(l, u, 0) }, map[float64]float64{}}
		}
	}
	return out
}

// entropy returns the entropy in nats of the answer to a comparison where u ~
// N(m, v). What is neither a nor b is 'equal'.
func entropy(l idrl.Likelihood, m, v float64) float64 {
	a, b := chance(l, choices[0], m, v), chance(l, choices[1], m, v)
	return surprise(a) + surprise(b) + surprise(1-a-b)
}

// surprise returns −p log p, or 0 if rounding has put p below 0.
func surprise(p float64) float64 {
	if !(p > 0) {
		return 0
	}
	return -p * math.Log(p)
}
