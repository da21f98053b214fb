package belief

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// truncated describes a standard normal variable cut to an interval.
type truncated struct {
	logZ float64 // log of the probability of the interval
	mean float64 // of the variable within it
	lost float64 // 1 − its variance within it, in [0, 1]
}

// tail returns the moments of a standard normal cut to [x, ∞). The relative
// error is below 1e-11 for any finite x.
func tail(x float64) truncated {
	const far = 5 // the continued fraction needs 40 terms from here on
	if x < far {
		q := 0.5 * math.Erfc(x/math.Sqrt2)
		h := math.Exp(-0.5*x*x-halfLog2Pi) / q
		logQ := math.Log(q)
		if x < 0 {
			logQ = math.Log1p(-0.5 * math.Erfc(-x/math.Sqrt2))
		}
		return truncated{logZ: logQ, mean: h, lost: h * (h - x)}
	}
	// Laplace: φ(x)/Q(x) = x + 1/(x + 2/(x + 3/(x + …))). What follows the first
	// x is h − x without cancellation.
	excess := 0.0
	for k := 40.0; k >= 1; k-- {
		excess = k / (x + excess)
	}
	h := x + excess
	return truncated{logZ: -0.5*x*x - halfLog2Pi - math.Log(h), mean: h, lost: h * excess}
}

// interval returns the moments of a standard normal cut to [lo, hi], lo ≤ hi. It
// integrates, because the closed form loses all digits in narrow bands and far
// tails, where the difference of two nearly equal probabilities stands in the
// denominator. If lo = hi the probability is zero, and the moments are those of
// the limit.
func interval(lo, hi float64) truncated {
	if hi < -lo { // mirror, so that the near end is lo
		t := interval(-hi, -lo)
		t.mean = -t.mean
		return t
	}
	mode := max(lo, 0) // of the density within the interval: lo, or 0 if that lies within
	a, b := window(lo, hi, mode)
	r := &coarse
	if (b-a)*(math.Abs(a)+math.Abs(b)) > 8 {
		r = &fine
	}
	// Moments about the mode, so that the variance does not cancel.
	var s0, s1, s2 float64
	for k, node := range r.x {
		t := a + (b-a)*node
		e := t - mode
		f := r.w[k] * math.Exp(-0.5*e*(t+mode)) // φ(t)/φ(mode)
		s0 += f
		s1 += f * e
		s2 += f * e * e
	}
	shift := s1 / s0
	return truncated{
		logZ: min(0, math.Log((b-a)*s0)-0.5*mode*mode-halfLog2Pi),
		mean: mode + shift,
		lost: min(1, max(0, 1-(s2/s0-shift*shift))),
	}
}

// cut returns the moments of a standard normal cut to [lo, hi], either end of
// which may be infinite, but not both.
func cut(lo, hi float64) truncated {
	switch {
	case math.IsInf(hi, 1):
		return tail(lo)
	case math.IsInf(lo, -1):
		t := tail(-hi)
		t.mean = -t.mean
		return t
	}
	return interval(lo, hi)
}

// window returns the part of [lo, hi] in which the normal density is at least
// exp(−40) of its value at mode, the point of [lo, hi] nearest to zero.
func window(lo, hi, mode float64) (a, b float64) {
	const drop = 2 * 40
	reach := drop / (mode + math.Sqrt(mode*mode+drop)) // solves reach·mode + reach²/2 = 40
	return max(lo, mode-reach), min(hi, mode+reach)
}

const halfLog2Pi = 0.918938533204672741780329736405617640 // ½ log 2π

// A rule integrates over [0, 1]: ∫f ≈ Σ w_k f(x_k).
type rule struct{ x, w []float64 }

// coarse is exact to rounding where the exponent varies by up to 4 over the
// interval, fine where it varies by up to 40.
var coarse, fine = legendre(16), legendre(48)

// legendre returns the Gauss-Legendre rule of n points.
func legendre(n int) rule {
	r := rule{x: make([]float64, n), w: make([]float64, n)}
	quad.Legendre{}.FixedLocations(r.x, r.w, 0, 1)
	return r
}
