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

// outcomes returns, for every kind of query of the table, the answers to which its
// likelihood gives probabilities: a and b, and perhaps 'equal' and much better ones. It is
// nil for a likelihood that gives densities: that of ratings, and the paper's treatment of
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

// outcomes returns a and b, or all replies that l tells apart, if their probabilities sum to
// 1 at two test values of (m, v). Densities do not. It returns nil otherwise.
func outcomes(l idrl.Likelihood) []idrl.Answer {
	sum := func(answers []idrl.Answer, m, v float64) (sum float64) {
		for _, a := range answers {
			sum += chance(l, a, m, v)
		}
		return sum
	}
	for _, answers := range [][]idrl.Answer{choices[:], idrl.Replies(l)} {
		if math.Abs(sum(answers, 0.3, 1)-1) < 1e-6 && math.Abs(sum(answers, 1.7, 2)-1) < 1e-6 {
			return answers
		}
	}
	return nil
}

// predictive stores the variance of the answer to every query in dst, length Q: 1/w_q. With
// Gaussian noise that is v_q + noise; with another likelihood it is the variance of a
// Gaussian answer with as much information. Before the first answer it is v_q, as in the
// authors' code. Source: docs/paper-code.md, section 2.
func (t *queryMoments) predictive(dst []float64, observed bool) {
	if !observed {
		copy(dst, t.vari)
		return
	}
	for i, w := range t.Infos() {
		dst[i] = 1 / w
	}
}
