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

// An averager computes E f(u) for several normal u. It caches f at multiples of powers of
// two, which are the same points for every u.
type averager struct {
	f     func(u float64) float64
	grids map[float64]*grid // by the distance of their points
}

// A grid holds f at multiples of a unit.
type grid struct {
	unit  float64
	first int       // multiple of the first value
	value []float64 // NaN where f has not been computed
}

func newAverager(f func(u float64) float64) *averager {
	return &averager{f, map[float64]*grid{}}
}

// grid returns the grid of a unit, wide enough for multiples from low to high.
func (a *averager) grid(unit float64, low, high int) *grid {
	const most = 1 << 20
	g := a.grids[unit]
	if g != nil && max(high+1, g.first+len(g.value))-min(low, g.first) > most { // far apart for so small a unit
		g = &grid{unit: unit, first: low}
	} else if g == nil {
		g = &grid{unit: unit, first: low}
		a.grids[unit] = g
	}
	if low < g.first || high >= g.first+len(g.value) {
		first := min(low, g.first)
		value := make([]float64, max(high+1, g.first+len(g.value))-first)
		for i := range value {
			value[i] = math.NaN()
		}
		copy(value[g.first-first:], g.value)
		g.first, g.value = first, value
	}
	return g
}

// at returns f at a multiple of the grid's unit.
func (a *averager) at(g *grid, k int) float64 {
	y := g.value[k-g.first]
	if math.IsNaN(y) {
		y = a.f(float64(k) * g.unit)
		g.value[k-g.first] = y
	}
	return y
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
	if s <= 1e-9*math.Abs(m) { // rounding would merge the points
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

// rule returns E f(u) for u ~ N(m, v) by one trapezoidal rule with at least perStd
// points per standard deviation, over four standard deviations on each side of m.
func (a *averager) rule(m, v, perStd float64) float64 {
	s := math.Sqrt(v)
	if s <= 1e-9*math.Abs(m) {
		return a.f(m)
	}
	const stds = 4
	step := math.Exp2(math.Floor(math.Log2(s / perStd)))
	low, high := int(math.Ceil((m-stds*s)/step)), int(math.Floor((m+stds*s)/step))
	g := a.grid(step, low, high)
	// Neighbouring weights exp(−z²/2) have ratios that themselves have one ratio.
	z, h := (float64(low)*step-m)/s, step/s
	w, ratio, bend := math.Exp(-0.5*z*z), math.Exp(-h*(z+0.5*h)), math.Exp(-h*h)
	var sum weighted
	for k := low; k <= high; k++ {
		sum.f += w * a.at(g, k)
		sum.weight += w
		w *= ratio
		ratio *= bend
	}
	return sum.value()
}

// weighted is a sum of f by weights.
type weighted struct{ f, weight float64 }

func (w weighted) value() float64 { return w.f / w.weight }

// sum returns the sum over the points offset + k·step within reach of m, where
// offset is 0 or half a step.
func (a *averager) sum(m, s, step, offset float64) (out weighted) {
	unit, stride := step, 1
	if offset > 0 {
		unit, stride = offset, 2
	}
	low, high := math.Ceil((m-reach*s-offset)/step), math.Floor((m+reach*s-offset)/step)
	first, last := stride*int(low)+stride-1, stride*int(high)+stride-1
	g := a.grid(unit, first, last)
	for k := first; k <= last; k += stride {
		w := density((float64(k)*unit - m) / s)
		out.f += w * a.at(g, k)
		out.weight += w
	}
	return out
}
