package acquisition

import "math"

// density returns φ(z), the standard normal density.
func density(z float64) float64 { return math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi) }

// probability returns Φ(z), its distribution function, with a small relative
// error for any z.
func probability(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// gain returns h(m, s) = E max(0, X) for X ~ N(m, s²):
//
//	m Φ(m/s) + s φ(m/s)
//
// which is max(0, m) if s = 0.
func gain(m, s float64) float64 {
	if !(s > 0) {
		return max(0, m)
	}
	z := m / s
	return max(0, m*probability(z)+s*density(z))
}

// An averager computes E f(u) for several normal u. It remembers f at the points
// it needs, which are multiples of powers of two so that they serve all alike.
type averager struct {
	f     func(u float64) float64
	known map[float64]float64
}

// reach is how far from the mean an averager goes, in standard deviations.
const reach = 7

// mean returns E f(u) for u ~ N(m, v) by the trapezoidal rule. For a smooth f its
// error falls exponentially with the number of points: when two rules agree to
// 1e-7 the finer one is far closer to the truth. Points lie no closer than √v/256,
// which a bend or corner of f may need; the error is some 1e-5 there. Where f is
// flat but for a stretch narrower than √v/20 both rules may miss it.
func (a *averager) mean(m, v float64) float64 {
	s := math.Sqrt(v)
	if s <= 1e-9*math.Abs(m) { // the points would be no numbers apart
		return a.f(m)
	}
	step := math.Exp2(math.Floor(math.Log2(s / 2)))
	sum := a.sum(m, s, step, 0)
	for before := sum.value(); ; step /= 2 {
		half := a.sum(m, s, step, step/2)
		sum = weighted{sum.f + half.f, sum.weight + half.weight}
		after := sum.value()
		if math.Abs(after-before) < 1e-7 || step < s/64 {
			return after
		}
		before = after
	}
}

// weighted is a sum of f by weights.
type weighted struct{ f, weight float64 }

func (w weighted) value() float64 { return w.f / w.weight }

// sum returns the sum over the points offset + k·step within reach of m.
func (a *averager) sum(m, s, step, offset float64) (out weighted) {
	first, last := math.Ceil((m-reach*s-offset)/step), (m+reach*s-offset)/step
	for k := first; k <= last; k++ {
		u := offset + k*step
		w := density((u - m) / s)
		out.f += w * a.at(u)
		out.weight += w
	}
	return out
}

// at returns f(u).
func (a *averager) at(u float64) float64 {
	y, known := a.known[u]
	if !known {
		y = a.f(u)
		a.known[u] = y
	}
	return y
}
