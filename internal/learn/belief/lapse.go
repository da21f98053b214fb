package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// Lapse is the likelihood of an annotator who answers by Of, but with probability Rate at
// random, independent of u:
//
//	p(y|u) = Rate·q + (1 − Rate) Of(y|u)
//
// with q = 1/Outcomes for a comparison and the density 1/2 for a rating on [−1, 1]. If the
// ends of the scale have probabilities (RatingClipped), q is 1/20 for each, and the density
// 9/20 between them. Source: docs/methods.md, section 2.1, row lapse. A surprising answer may
// be a lapse, so that it can widen the posterior: d2 may be above zero.
type Lapse struct {
	Of       idrl.Likelihood // required
	Rate     float64         // in [0, 1)
	Outcomes int             // of a comparison: 2 (a, b) or 3 (and 'equal'), 4 or 5 with much better ones; 0 for a rating
}

var (
	_ idrl.Likelihood = Lapse{}
	_ checker         = Lapse{}
)

// Validate returns an error of kind Invalid that says what to change.
func (l Lapse) Validate() error {
	if l.Of == nil {
		return idrl.Errorf(idrl.Invalid, "a likelihood with lapses needs one without to lapse from")
	}
	if !(l.Rate >= 0 && l.Rate < 1) {
		return idrl.Errorf(idrl.Invalid, "the rate of lapses must be 0 or more and below 1; got %v", l.Rate)
	}
	_, grades := l.Of.(Graded)
	if l.Outcomes != 0 && (l.Outcomes < 2 || l.Outcomes > 5 || grades != (l.Outcomes > 3)) {
		return idrl.Errorf(idrl.Invalid, "a comparison has 2 or 3 outcomes, with much better ones 4 or 5, and a rating is 0 here; got %d", l.Outcomes)
	}
	return nil
}

// check returns an error of kind Invalid if Of does not know the answer a.
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
	logZ, meant := l.mix(a, z)
	d1 = meant * e1
	return logZ, d1, meant*(e2+e1*e1) - d1*d1
}

// lapseToEnd is the probability that a lapse is one end of a scale that ends.
const lapseToEnd = 0.05

// random returns the probability, or the density, of a if it is a lapse.
func (l Lapse) random(a idrl.Answer) float64 {
	if l.Outcomes > 0 {
		return 1 / float64(l.Outcomes)
	}
	if _, ends := l.Of.(RatingClipped); !ends {
		return 0.5
	}
	if a.Rating > -1 && a.Rating < 1 {
		return 0.5 - lapseToEnd
	}
	return lapseToEnd
}

// mix returns log Z of answer a and the probability that it was meant, where z is its
// log Z if it was.
func (l Lapse) mix(a idrl.Answer, z float64) (logZ, meant float64) {
	if l.Rate == 0 {
		return z, 1
	}
	lapse := math.Log(l.Rate * l.random(a))
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
	for _, a := range replies(l.Outcomes) {
		logZ, d1, _ := l.LogZ(a, m, v)
		w += math.Exp(logZ) * d1 * d1
	}
	return w
}

// Replies returns the answers to a comparison that the likelihood tells apart.
func (l Lapse) Replies() []idrl.Answer { return replies(l.Outcomes) }

// ratingInfo returns w of a rating: that of Of, less the loss because an answer on the scale
// may be a lapse,
//
//	w = (1 − Rate) (w_Of − ∫ Z_Of(y) d1_Of(y)² (1 − ρ(y)) dy over [−1, 1])
//
// by quadrature, with panels of at most the standard deviation of y. If the ends of the scale
// have probabilities, they are terms of a sum.
func (l Lapse) ratingInfo(m, v float64) float64 {
	of := l.Of.Info(m, v)
	lost := func(y, width float64) float64 {
		a := idrl.Answer{Choice: idrl.Rated, Rating: y}
		z, d1, _ := l.Of.LogZ(a, m, v)
		_, meant := l.mix(a, z)
		return width * math.Exp(z) * d1 * d1 * (1 - meant)
	}
	std := 1 / math.Sqrt(of) // of y, where Of is Gaussian
	if c, ends := l.Of.(RatingClipped); ends {
		of -= lost(-1, 1) + lost(1, 1)
		std = math.Sqrt(v + c.NoiseVar)
	}
	for lo, end := max(-1, m-reach*std), min(1, m+reach*std); lo < end; lo += std {
		width := min(std, end-lo)
		for k, node := range coarse.x {
			of -= lost(lo+width*node, width*coarse.w[k])
		}
	}
	return (1 - l.Rate) * of
}
