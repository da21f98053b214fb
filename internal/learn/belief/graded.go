package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// Graded is the likelihood of a comparison in which the annotator also says whether the
// preferred clip is much better (Answer.Much). It has the noise ε of Of, and a second band
// around zero:
//
//	P(much a|u) = P(u + ε > Much)
//	P(a|u)      = P(tie width < u + ε ≤ Much)
//	P(equal|u)  = P(|u + ε| ≤ tie width)
//
// and likewise for b: the ordered probit or the ordered logit (docs/methods.md, section
// 2.1). If Much is +Inf it is Of.
type Graded struct {
	Of   Banded  // required
	Much float64 // half-width, above the tie width of Of, in units of θ·x
}

// Banded is a likelihood whose annotator compares u + ε with a band around zero.
type Banded interface {
	idrl.Likelihood

	// Between returns log P(lo < u + ε ≤ hi) for u ~ N(m, v) and its first two
	// derivatives in m. lo < hi; one of them may be infinite.
	Between(lo, hi, m, v float64) (logZ, d1, d2 float64)

	// Tie returns half the width of the band.
	Tie() float64

	// MostInfo returns an upper bound of the information factor, for any number of bands.
	MostInfo(v float64) float64
}

var (
	_ idrl.Likelihood = Graded{}
	_ Banded          = Probit{}
	_ Banded          = BradleyTerry{}
)

// Tie returns TieBand.
func (p Probit) Tie() float64 { return p.TieBand }

// Between implements Banded.
func (p Probit) Between(lo, hi, m, v float64) (logZ, d1, d2 float64) {
	r := math.Hypot(p.NoiseStd, math.Sqrt(v))
	t := cut((lo-m)/r, (hi-m)/r)
	return t.logZ, t.mean / r, -t.lost / (r * r)
}

// Tie returns TieWidth.
func (b BradleyTerry) Tie() float64 { return b.TieWidth }

// Between implements Banded. An interval of a logistic variable is a tie about its
// middle: the difference of two logistic functions is in proportion to the product of
// one that rises at the lower end and one that falls at the upper.
func (b BradleyTerry) Between(lo, hi, m, v float64) (logZ, d1, d2 float64) {
	switch {
	case math.IsInf(hi, 1):
		return BradleyTerry{b.Beta, lo}.LogZ(idrl.Answer{Choice: idrl.ChoseA}, m, v)
	case math.IsInf(lo, -1):
		return BradleyTerry{b.Beta, -hi}.LogZ(idrl.Answer{Choice: idrl.ChoseB}, m, v)
	}
	middle := lo + (hi-lo)/2
	return BradleyTerry{b.Beta, (hi - lo) / 2}.LogZ(idrl.Answer{Choice: idrl.Equal}, m-middle, v)
}

// LogZ returns log Z of answer a and its first two derivatives in m. It panics if a is
// not an informative answer to a comparison.
func (g Graded) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	lo, hi := g.Of.Tie(), g.Much
	if a.Much {
		lo, hi = g.Much, math.Inf(1)
	}
	switch a.Choice {
	case idrl.ChoseA:
		return g.Of.Between(lo, hi, m, v)
	case idrl.ChoseB:
		return g.Of.Between(-hi, -lo, m, v)
	default:
		return g.Of.LogZ(a, m, v)
	}
}

// Replies returns the answers that the likelihood tells apart.
func (g Graded) Replies() []idrl.Answer {
	if g.Of.Tie() == 0 {
		return replies(4)
	}
	return replies(5)
}

// Info returns w = Σ_y Z(y) (∂ log Z(y)/∂m)² over the answers.
func (g Graded) Info(m, v float64) (w float64) {
	for _, a := range g.Replies() {
		logZ, d1, _ := g.LogZ(a, m, v)
		w += math.Exp(logZ) * d1 * d1
	}
	return w
}

// MostInfo returns an upper bound of Info(m, v), which does not depend on the number of
// bands.
func (g Graded) MostInfo(v float64) float64 { return g.Of.MostInfo(v) }

// replies returns the n possible answers to a comparison, which must not be changed: 2 are a
// and b; 3 are these and 'equal'; 4 are a and b, each with and without much better; 5 are
// those and 'equal'.
func replies(n int) []idrl.Answer {
	switch n {
	case 2, 3:
		return gradedReplies[:n]
	case 4:
		return fourReplies[:]
	}
	return gradedReplies[:]
}

var (
	gradedReplies = [...]idrl.Answer{
		{Choice: idrl.ChoseA}, {Choice: idrl.ChoseB}, {Choice: idrl.Equal}, {Choice: idrl.ChoseA, Much: true}, {Choice: idrl.ChoseB, Much: true},
	}
	fourReplies = [...]idrl.Answer{gradedReplies[0], gradedReplies[1], gradedReplies[3], gradedReplies[4]}
)
