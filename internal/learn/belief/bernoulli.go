package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// BernoulliLinear is the likelihood of the paper's simulated annotator, who
// answers y = +1 (a) or −1 (b) with P(y|u) = (1 + y·clamp(u, −1, 1))/2, treated as
// Gaussian by matching moments: y ~ N(u, s²) with s² = E[1 − u²] = 1 − m² − v, so
// that y has the predictive variance D = 1 − m². D is at least
// v + 1/4, which approximates the effect of the clamp. Source: docs/methods.md, section 2.1, row
// Bernoulli-linear.
//
// log Z is exact, clamp included. d1 = (y − m)/D and d2 = −1/D are those of the
// Gaussian. Where u lies in [−1, 1] and D is not cut, d1 is the exact derivative of
// log Z, so that the mean after an answer is exact, and d2 is its exact second
// derivative −1/(1 + ym)² on average over the two answers, so that the variance
// is exact on average, and for each answer at m = 0.
//
// The annotator never says 'equal'. It counts as the Gaussian answer y = 0, and its
// log Z is the log density of that.
type BernoulliLinear struct{}

var _ idrl.Likelihood = BernoulliLinear{}

// leastBernoulliVar is the smallest variance of the Gaussian's noise.
const leastBernoulliVar = 0.25

// LogZ returns log Z of answer a, and the d1 and d2 of the Gaussian that stands
// in for it. It panics if a is not an informative answer to a comparison.
func (b BernoulliLinear) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	y := plusMinus(a)
	logZ, d1, d2 = gaussianLogZ(y-m, b.total(m, v))
	if y != 0 {
		logZ = logBernoulli(y*m, math.Sqrt(v))
	}
	return logZ, d1, d2
}

// Info returns w = 1/D: the update reduces the variance of u by v²/D for every answer.
func (b BernoulliLinear) Info(m, v float64) float64 { return 1 / b.total(m, v) }

// total returns D.
func (BernoulliLinear) total(m, v float64) float64 { return max(1-m*m, v+leastBernoulliVar) }

// logBernoulli returns log E[(1 + clamp(u, −1, 1))/2] for u ~ N(m, r²). Half of
// 1 + clamp(u) is half of (1 + u)⁺ − (u − 1)⁺.
func logBernoulli(m, r float64) float64 {
	if r == 0 {
		return math.Log1p(min(max(m, -1), 1)) - math.Ln2
	}
	from, beyond := logExcess((-1-m)/r), logExcess((1-m)/r)
	if math.IsInf(beyond, -1) {
		return math.Log(r/2) + from
	}
	return min(0, math.Log(r/2)+from+math.Log(-math.Expm1(beyond-from)))
}

// logExcess returns log E[(X − z)⁺] for a standard normal X.
func logExcess(z float64) float64 {
	t := tail(z)
	if z > 0 {
		return t.logZ + math.Log(t.lost/t.mean)
	}
	return t.logZ + math.Log(t.mean-z)
}

// plusMinus returns the paper's number of an answer: +1 for a, −1 for b and 0 for
// 'equal'. It panics if a is not an informative answer to a comparison.
func plusMinus(a idrl.Answer) float64 {
	switch a.Choice {
	case idrl.ChoseA:
		return 1
	case idrl.ChoseB:
		return -1
	case idrl.Equal:
		return 0
	default:
		panic("belief: the answer does not answer a comparison")
	}
}
