package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// Lapse is the likelihood of an annotator who answers as Of says, but with
// probability Rate at random, whatever u is:
//
//	p(y|u) = Rate·q + (1 − Rate) Of(y|u)
//
// with q = 1/Outcomes for a comparison and the density 1/2 for a rating on
// [−1, 1]. Source: docs/methods.md, section 2.1, row lapse. A surprising answer
// may now be a lapse, so that it can widen the posterior: d2 may be above zero.
type Lapse struct {
	Of       idrl.Likelihood // required
	Rate     float64         // in [0, 1)
	Outcomes int             // of a comparison: 2 (a, b) or 3 (and 'equal'); 0 of a rating
}

var (
	_ idrl.Likelihood = Lapse{}
	_ checker         = Lapse{}
)

// Validate returns an error of kind Invalid that says what to change.
func (l Lapse) Validate() error {
	switch l.Of.(type) {
	case nil:
		return idrl.Errorf(idrl.Invalid, "a likelihood with lapses needs one without to lapse from")
	case RatingClipped:
		return idrl.Errorf(idrl.Invalid, "lapses of a rating are spread evenly over the scale, which %T is not; use Rating", l.Of)
	}
	if !(l.Rate >= 0 && l.Rate < 1) {
		return idrl.Errorf(idrl.Invalid, "the rate of lapses must be 0 or more and below 1; got %v", l.Rate)
	}
	if l.Outcomes != 0 && l.Outcomes != 2 && l.Outcomes != 3 {
		return idrl.Errorf(idrl.Invalid, "a comparison has 2 or 3 outcomes, and a rating is 0 here; got %d", l.Outcomes)
	}
	return nil
}

// check returns an error of kind Invalid if a is none that Of knows.
func (l Lapse) check(a idrl.Answer) error {
	if c, ok := l.Of.(checker); ok {
		return c.check(a)
	}
	return nil
}

// LogZ returns log Z of answer a and its first two derivatives in m. With ρ the
// probability that a was meant, they are ρ times the first of Of, and
// ρ (d2 + d1²) of Of less the square of the first.
func (l Lapse) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	z, e1, e2 := l.Of.LogZ(a, m, v)
	logZ, meant := l.mix(z)
	d1 = meant * e1
	return logZ, d1, meant*(e2+e1*e1) - d1*d1
}

// mix returns log Z of an answer and the probability that it was meant, where z is
// its log Z if it was.
func (l Lapse) mix(z float64) (logZ, meant float64) {
	if l.Rate == 0 {
		return z, 1
	}
	q := 0.5
	if l.Outcomes > 0 {
		q = 1 / float64(l.Outcomes)
	}
	lapse := math.Log(l.Rate * q)
	z += math.Log1p(-l.Rate)
	top := max(lapse, z)
	logZ = top + math.Log(math.Exp(lapse-top)+math.Exp(z-top))
	return logZ, math.Exp(z - logZ)
}

// Info returns w = E_y[(∂ log Z(y)/∂m)²].
func (l Lapse) Info(m, v float64) float64 {
	if l.Outcomes == 0 {
		return l.ratingInfo(m, v)
	}
	var w float64
	choices := [...]idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}
	for _, c := range choices[:l.Outcomes] {
		logZ, d1, _ := l.LogZ(idrl.Answer{Choice: c}, m, v)
		w += math.Exp(logZ) * d1 * d1
	}
	return w
}

// ratingInfo returns w of a rating: that of Of, less what it loses on the scale
// because an answer there may be a lapse,
//
//	w = (1 − Rate) (w_Of − ∫ Z_Of(y) d1_Of(y)² (1 − ρ(y)) dy over [−1, 1])
//
// by quadrature, whose panels are as wide as the standard deviation of y at most.
func (l Lapse) ratingInfo(m, v float64) float64 {
	of := l.Of.Info(m, v)
	std := 1 / math.Sqrt(of) // of y, where Of is Gaussian
	lost := 0.0
	for lo, end := max(-1, m-reach*std), min(1, m+reach*std); lo < end; lo += std {
		width := min(std, end-lo)
		for k, node := range coarse.x {
			z, d1, _ := l.Of.LogZ(idrl.Answer{Choice: idrl.Rated, Rating: lo + width*node}, m, v)
			_, meant := l.mix(z)
			lost += width * coarse.w[k] * math.Exp(z) * d1 * d1 * (1 - meant)
		}
	}
	return (1 - l.Rate) * (of - lost)
}
