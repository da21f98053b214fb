package acquisition

import (
	"math"

	"tiebreak/internal/idrl"
)

// choices are the answers to a comparison that has two.
var choices = [...]idrl.Answer{{Choice: idrl.ChoseA}, {Choice: idrl.ChoseB}}

// chance returns Z(a), the predictive probability of answer a where u ~ N(m, v),
// or its density.
func chance(l idrl.Likelihood, a idrl.Answer, m, v float64) float64 {
	logZ, _, _ := l.LogZ(a, m, v)
	return math.Exp(logZ)
}

// outcomes returns for every kind of query of the table the answers that its
// likelihood gives probabilities: a and b, perhaps with 'equal', and much better ones. A likelihood that
// gives densities has none, as those of ratings and the paper's treatment of
// comparisons, in which an answer is the number ±1.
func (t *queryMoments) outcomes() map[idrl.QueryKind][]idrl.Answer {
	out := make(map[idrl.QueryKind][]idrl.Answer, 1)
	for _, q := range t.queries {
		if _, known := out[q.Kind]; !known {
			out[q.Kind] = nil
			if q.Kind.Comparison() {
				out[q.Kind] = outcomes(t.model.Likelihood(q.Query))
			}
		}
	}
	return out
}

// outcomes returns the first two of choices, or all replies that l tells apart, if those sum to 1 wherever
// the belief about u lies, which densities do at no two places but by accident.
func outcomes(l idrl.Likelihood) []idrl.Answer {
	sum := func(answers []idrl.Answer, m, v float64) (sum float64) {
		for _, a := range answers {
			sum += chance(l, a, m, v)
		}
		return sum
	}
	for _, answers := range [][]idrl.Answer{choices[:2], idrl.Replies(l)} {
		if math.Abs(sum(answers, 0.3, 1)-1) < 1e-6 && math.Abs(sum(answers, 1.7, 2)-1) < 1e-6 {
			return answers
		}
	}
	return nil
}

// predictive stores the variance of the answer to every query in dst: 1/w_q, which
// is v_q and the noise if that is Gaussian, and for another likelihood the
// variance of a Gaussian answer that tells as much. Before the first answer the
// authors' code leaves the noise out. Source: docs/paper-code.md, section 2.
func (t *queryMoments) predictive(dst []float64, observed bool) {
	if !observed {
		copy(dst, t.vari)
		return
	}
	for i, w := range t.Infos() {
		dst[i] = 1 / w
	}
}
