package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// Probit is the likelihood of a comparison in which the annotator compares
// u + ε, ε ~ N(0, NoiseStd²), with a band around zero:
//
//	P(a|u)     = Φ((u − TieBand)/NoiseStd)
//	P(b|u)     = Φ((−u − TieBand)/NoiseStd)
//	P(equal|u) = 1 − P(a|u) − P(b|u)
//
// Under u ~ N(m, v) the variable u + ε is N(m, r²), r² = v + NoiseStd², so each
// answer cuts a standard normal to an interval; the moments E and Var of what is
// left give ∂ log Z/∂m = E/r and ∂² log Z/∂m² = (Var − 1)/r². These are the
// formulas of docs/methods.md, section 2.1, in a form that does not cancel.
type Probit struct {
	NoiseStd float64 // s > 0, in units of θ·x
	TieBand  float64 // half-width of 'equal' ≥ 0, in units of θ·x
}

// PlusMinus is the paper's treatment of a comparison: the answer is y = +1 (a),
// −1 (b) or 0 (equal) with Gaussian noise, y ~ N(u, NoiseVar).
type PlusMinus struct {
	NoiseVar float64 // > 0; PaperNoiseVar in the paper
}

// Rating is the likelihood of a rating y ~ N(u, NoiseVar).
type Rating struct {
	NoiseVar float64 // > 0
}

var (
	_ idrl.Likelihood = Probit{}
	_ idrl.Likelihood = PlusMinus{}
	_ idrl.Likelihood = Rating{}
)

// LogZ returns log Z of answer a and its first two derivatives in m. It panics
// if a is not an informative answer to a comparison.
func (p Probit) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	r := math.Hypot(p.NoiseStd, math.Sqrt(v))
	var t truncated
	sign := 1.0
	switch a.Choice {
	case idrl.ChoseA:
		t = tail((p.TieBand - m) / r)
	case idrl.ChoseB:
		t, sign = tail((p.TieBand+m)/r), -1
	case idrl.Equal:
		t = interval((-p.TieBand-m)/r, (p.TieBand-m)/r)
	default:
		panic("belief: the answer does not answer a comparison")
	}
	return t.logZ, sign * t.mean / r, -t.lost / (r * r)
}

// Info returns w = Σ_y Z(y) (∂ log Z(y)/∂m)² over the three answers.
func (p Probit) Info(m, v float64) float64 {
	r := math.Hypot(p.NoiseStd, math.Sqrt(v))
	var w float64
	for _, t := range [...]truncated{
		tail((p.TieBand - m) / r),
		tail((p.TieBand + m) / r),
		interval((-p.TieBand-m)/r, (p.TieBand-m)/r),
	} {
		w += math.Exp(t.logZ) * t.mean * t.mean
	}
	return w / (r * r)
}

// MostInfo returns 1/(v + NoiseStd²), an upper bound of Info(m, v): the information of u + ε
// itself.
func (p Probit) MostInfo(v float64) float64 { return 1 / (v + p.NoiseStd*p.NoiseStd) }

// LogZ returns log Z of answer a and its first two derivatives in m. It panics
// if a is not an informative answer to a comparison.
func (p PlusMinus) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	return gaussianLogZ(plusMinus(a)-m, v+p.NoiseVar)
}

// Info returns w = 1/(v + NoiseVar).
func (p PlusMinus) Info(_, v float64) float64 { return 1 / (v + p.NoiseVar) }

// LogZ returns log Z of answer a and its first two derivatives in m. It panics
// if a is not a rating.
func (r Rating) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	return gaussianLogZ(rated(a)-m, v+r.NoiseVar)
}

// Info returns w = 1/(v + NoiseVar).
func (r Rating) Info(_, v float64) float64 { return 1 / (v + r.NoiseVar) }

// gaussianLogZ returns the log density of N(0, s2) at e = y − m and its first
// two derivatives in m.
func gaussianLogZ(e, s2 float64) (logZ, d1, d2 float64) {
	return -0.5 * (e*e/s2 + math.Log(2*math.Pi*s2)), e / s2, -1 / s2
}
