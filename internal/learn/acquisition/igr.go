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
// the entropy of the answer less its entropy when the reward is known (Houlsby et al. 2011,
// "BALD"), integrated numerically. Source: the paper, appendix "Information gain on the
// reward"; docs/methods.md, section 1.2.
type IGR struct {
	// Paper makes the value the predictive variance of the answer, which orders
	// answers with Gaussian noise as the information does, and has no meaning
	// for others. Source: docs/paper-code.md, section 4.
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
	var open []int // queries answered by choices that may have the highest value
	for i, q := range t.queries {
		if known[q.Kind] != nil {
			open = append(open, i)
			continue
		}
		v := t.vari[i]
		dst[i] = information(v*v*t.infoOf(i), v)
	}
	if in.best {
		for _, pass := range roughly {
			open = t.rough(dst, open, known, pass)
		}
	}
	for _, i := range open {
		m, v := t.mean[i], t.vari[i]
		q := t.queries[i]
		dst[i] = max(0, entropy(t.model.Likelihood(q.Query), m, v)-known[q.Kind].mean(m, v))
	}
	return noPair(), nil
}

// A pass values queries by one rule with few points. It is off by less than half
// of its margin, in nats, even where the likelihood has corners.
type pass struct{ perStd, margin float64 }

// roughly are the passes that discard queries that cannot have the highest value.
var roughly = []pass{{2, 0.06}, {8, 0.01}, {32, 0.001}}

// rough stores rough values of the open queries in dst, each less the margin, and
// returns those queries that may have the highest value, times its weight in the selection.
func (t *queryMoments) rough(dst []float64, open []int, known map[idrl.QueryKind]*averager, p pass) (left []int) {
	most := math.Inf(-1)
	for _, i := range open {
		q, m, v := t.queries[i], t.mean[i], t.vari[i]
		dst[i] = entropy(t.model.Likelihood(q.Query), m, v) - known[q.Kind].rule(m, v, p.perStd) - p.margin
		most = max(most, (dst[i]+p.margin/2)*t.weight(i))
	}
	for _, i := range open {
		if (dst[i]+1.5*p.margin)*t.weight(i) >= most {
			left = append(left, i)
		}
	}
	return left
}

// entropies returns averagers of H(p(·|u)) for the kinds of query whose answers
// are choices.
func (t *queryMoments) entropies() map[idrl.QueryKind]*averager {
	out := map[idrl.QueryKind]*averager{}
	choice := t.outcomes()
	for _, q := range t.queries {
		if choice[q.Kind] != nil && out[q.Kind] == nil {
			l := t.model.Likelihood(q.Query)
			out[q.Kind] = newAverager(func(u float64) float64 { return entropy(l, u, 0) })
		}
	}
	return out
}

// entropy returns the entropy in nats of the answer to a comparison where u ~
// N(m, v). The probability of 'equal' is the rest.
func entropy(l idrl.Likelihood, m, v float64) float64 {
	sum, equal := 0.0, 1.0
	for _, a := range idrl.Replies(l) {
		if a.Choice != idrl.Equal {
			p := chance(l, a, m, v)
			sum, equal = sum+surprise(p), equal-p
		}
	}
	return sum + surprise(equal)
}

// surprise returns −p log p, or 0 if rounding has put p below 0.
func surprise(p float64) float64 {
	if !(p > 0) {
		return 0
	}
	return -p * math.Log(p)
}
