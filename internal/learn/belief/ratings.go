package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// RatingClipped is the likelihood of a rating on a bounded scale: the rating is u + ε,
// ε ~ N(0, NoiseVar), clipped to [−1, 1]. So a rating of ±1 is a one-sided interval (Tobit),
// and any other is the number itself. Source: docs/methods.md, section 2.1, row slider.
type RatingClipped struct {
	NoiseVar float64 // > 0
}

var _ idrl.Likelihood = RatingClipped{}

// LogZ returns log Z of answer a, a density within the scale and a probability at
// its ends, and its first two derivatives in m. It panics if a is not a rating.
func (c RatingClipped) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	y := rated(a)
	s2 := v + c.NoiseVar
	if y > -1 && y < 1 {
		return gaussianLogZ(y-m, s2)
	}
	r := math.Sqrt(s2)
	t := cut((1-m)/r, math.Inf(1))
	if y < 0 {
		t = cut(math.Inf(-1), (-1-m)/r)
	}
	return t.logZ, t.mean / r, -t.lost / s2
}

// Info returns w = E_y[(∂ log Z(y)/∂m)²]. Within the scale the square is that of
// z = (y − m)/r over r², and E[z²] is 1 − lost + mean² of z cut to the scale.
func (c RatingClipped) Info(m, v float64) float64 {
	s2 := v + c.NoiseVar
	r := math.Sqrt(s2)
	lo, hi := (-1-m)/r, (1-m)/r
	within, below, above := interval(lo, hi), cut(math.Inf(-1), lo), tail(hi)
	return (math.Exp(within.logZ)*(1-within.lost+within.mean*within.mean) +
		math.Exp(below.logZ)*below.mean*below.mean +
		math.Exp(above.logZ)*above.mean*above.mean) / s2
}

// rated returns the rating of a. It panics if a is not a rating.
func rated(a idrl.Answer) float64 {
	if a.Choice != idrl.Rated {
		panic("belief: the answer is not a rating")
	}
	return a.Rating
}
