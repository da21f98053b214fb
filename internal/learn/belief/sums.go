package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// sums returns Z of answer a and its first two derivatives in m, from which mixtures of likelihoods are computed. It
// takes less time than log Z and its derivatives. Z may be 0 if it is far below the accuracy of a sum.
func sums(l idrl.Likelihood, a *idrl.Answer, m, v float64) (z, z1, z2 float64) {
	switch l := l.(type) {
	case Probit:
		return l.sums(l.TieBand, math.Inf(1), a, m, v)
	case Graded:
		if p, ok := l.Of.(Probit); ok && a.Much {
			return p.sums(l.Much, math.Inf(1), a, m, v)
		} else if ok {
			return p.sums(p.TieBand, l.Much, a, m, v)
		}
	}
	log, d1, d2 := l.LogZ(*a, m, v)
	z = math.Exp(log)
	return z, z * d1, z * (d2 + d1*d1)
}

// sums is the function sums where a preference is lo < ±(u + ε) ≤ hi. It panics if a is not
// an informative answer to a comparison.
func (p Probit) sums(lo, hi float64, a *idrl.Answer, m, v float64) (z, z1, z2 float64) {
	r := math.Sqrt(v + p.NoiseStd*p.NoiseStd)
	switch a.Choice {
	case idrl.ChoseA:
		return between((lo-m)/r, (hi-m)/r, r)
	case idrl.ChoseB:
		z, z1, z2 = between((lo+m)/r, (hi+m)/r, r)
		return z, -z1, z2
	case idrl.Equal:
		return between((-p.TieBand-m)/r, (p.TieBand-m)/r, r)
	default:
		panic("belief: the answer does not answer a comparison")
	}
}

// between returns P(lo < z ≤ hi) of z ~ N(0, 1) and its first two derivatives in m, where
// lo and hi are (c − m)/r.
func between(lo, hi, r float64) (z, z1, z2 float64) {
	if math.IsInf(hi, 1) {
		p, d := upper(lo)
		return p, d / r, lo * d / (r * r)
	}
	side := 1.0
	if lo < 0 { // the tails that are subtracted are then the smaller ones
		lo, hi, side = -hi, -lo, -1
	}
	pl, dl := upper(lo)
	ph, dh := upper(hi)
	return pl - ph, side * (dl - dh) / r, (lo*dl - hi*dh) / (r * r)
}
