package belief

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
)

// A cone is the event that one of n clips is seen as the best and another one as the worst.
// In the coordinates y it is
//
//	0 ≤ y_0,   0 ≤ y_i ≤ y_0 for all others,   y ~ N(m, S) in R^k, k = n − 1,
//
// where y_0 is the difference between the best and the worst, and y_i that between another clip
// and the worst. With S = LLᵀ and y = m + Le, e is standard normal, and the event bounds
// one coordinate of e after the other. So its probability and the moments of e in it are
// integrals over a cube (Genz, "Numerical computation of multivariate normal
// probabilities", 1992), which a lattice sums; the last coordinate is integrated in closed
// form. The coordinates are in the order in which they are most restricted (Gibson, Glasbey
// and Elston, 1994).
type cone struct {
	k    int
	to   [][2]int  // y_a is the difference of the clips to[a][0] and to[a][1]
	m    []float64 // length k
	s, l []float64 // S and L, k×k by rows
}

// newCone returns the cone of two clips, under u ~ N(m, V), the differences of all clips from the
// first, with the annotator's noise.
func newCone(best, worst int, m []float64, v *mat.SymDense, noiseStd float64) *cone {
	k := len(m)
	c := &cone{k: k, to: make([][2]int, 1, k), m: make([]float64, k), s: make([]float64, k*k), l: make([]float64, k*k)}
	c.to[0] = [2]int{best, worst}
	for i := range k + 1 {
		if i != best && i != worst {
			c.to = append(c.to, [2]int{i, worst})
		}
	}
	mean := func(i int) float64 {
		if i == 0 {
			return 0
		}
		return m[i-1]
	}
	cov := func(i, j int) float64 {
		if i == 0 || j == 0 {
			return 0
		}
		return v.At(i-1, j-1)
	}
	noise := noiseStd * noiseStd / 2
	for a := range k {
		i := c.to[a][0]
		c.m[a] = mean(i) - mean(worst)
		for b := range k {
			j := c.to[b][0]
			c.s[a*k+b] = cov(i, j) - cov(i, worst) - cov(worst, j) + cov(worst, worst) + noise
		}
		c.s[a*k+a] += noise
	}
	c.factorise()
	return c
}

// factorise sets l, and orders the coordinates after the first: next comes the one that is
// least probable to be within its bounds if those before it are at their means.
func (c *cone) factorise() {
	k, at, top := c.k, make([]float64, c.k), 0.0 // at: means of e within the bounds
	for a := range k {
		next, least := a, 2.0
		for b := a; b < k && a > 0; b++ {
			mean, std := c.given(b, a, at)
			if p := mass(-mean/std, (top-mean)/std); p < least {
				next, least = b, p
			}
		}
		c.swap(a, next)
		mean, std := c.given(a, a, at)
		c.l[a*k+a] = std
		for b := a + 1; b < k; b++ {
			sum := c.s[b*k+a]
			for j := range a {
				sum -= c.l[b*k+j] * c.l[a*k+j]
			}
			c.l[b*k+a] = sum / std
		}
		if a == 0 {
			at[0] = tail(-mean / std).mean
			top = mean + std*at[0]
			continue
		}
		lo, hi := -mean/std, (top-mean)/std
		if p := mass(lo, hi); p > 0 {
			at[a] = (bell(lo) - bell(hi)) / p
		}
	}
}

// given returns the mean and standard deviation of coordinate b given that the first a of e
// are at some values.
func (c *cone) given(b, a int, at []float64) (mean, std float64) {
	mean, variance := c.m[b], c.s[b*c.k+b]
	for j, x := range c.l[b*c.k : b*c.k+a] {
		mean += x * at[j]
		variance -= x * x
	}
	return mean, math.Sqrt(variance)
}

// swap exchanges two coordinates.
func (c *cone) swap(a, b int) {
	if a == b {
		return
	}
	k := c.k
	c.to[a], c.to[b] = c.to[b], c.to[a]
	c.m[a], c.m[b] = c.m[b], c.m[a]
	for j := range k {
		c.s[a*k+j], c.s[b*k+j] = c.s[b*k+j], c.s[a*k+j]
		c.l[a*k+j], c.l[b*k+j] = c.l[b*k+j], c.l[a*k+j]
	}
	for j := range k {
		c.s[j*k+a], c.s[j*k+b] = c.s[j*k+b], c.s[j*k+a]
	}
}

// bell is φ(x), 0 where x is infinite.
func bell(x float64) float64 { return math.Exp(-0.5*x*x - halfLog2Pi) }

// above returns the probability that a standard normal variable is above x.
func above(x float64) float64 { return 0.5 * math.Erfc(x/math.Sqrt2) }

// mass returns the probability that a standard normal variable lies in [lo, hi], 0 if that is
// empty.
func mass(lo, hi float64) float64 {
	if lo > 0 {
		return max(0, above(lo)-above(hi))
	}
	return max(0, above(-hi)-above(-lo))
}

// A lattice is Korobov's, with the generator that is best for four dimensions by the criterion
// P₂ with the weights 1, 0.8, 0.64 and 0.512. The number of points is prime.
type lattice struct{ points, generator int }

// Lattices: for one answer, with moments to some hundredths of a standard deviation; for sums
// over all answers; and for sums of which only the order matters.
var (
	fineLattice  = lattice{509, 250}
	tailLattices = []lattice{{4093, 162}, {32749, 8623}} // if few points of the one before have most of the weight
	sumLattice   = lattice{251, 64}
	roughLattice = lattice{61, 7}
)

// leastEffective is the effective number of points of a lattice with which its sums are within
// about 2 %: the square of the sum of the weights over the sum of their squares.
const leastEffective = 128

// coneSums gathers integrals over the part of the cube that stands for a cone.
type coneSums struct {
	one     float64
	squares float64   // sum of the squares of the terms of one
	e       []float64 // length k
	ee      []float64 // k×k by rows, the lower half
	here    []float64 // e at a point
}

// sum returns the integrals by a lattice, and whether enough of its points have weight.
func (c *cone) sum(by lattice) (sums coneSums, enough bool) {
	k := c.k
	sums = coneSums{e: make([]float64, k), ee: make([]float64, k*k), here: make([]float64, k)}
	for p := range by.points {
		c.add(&sums, by, p)
	}
	return sums, sums.one*sums.one >= leastEffective*sums.squares
}

// solve returns log P(cone), and its gradient and minus its second derivatives in the means of u. A cone that is
// far out in a wide distribution, where fineLattice has few points, is summed by more points.
func (c *cone) solve(by lattice) (logZ float64, d1 []float64, d2 *mat.SymDense) {
	k := c.k
	if k == 1 {
		by.points = 1 // the integral is in closed form
	}
	sums, enough := c.sum(by)
	for next := 0; by.points >= fineLattice.points && !enough && next < len(tailLattices); next++ {
		by = tailLattices[next]
		sums, enough = c.sum(by)
	}
	d1, d2 = make([]float64, k), mat.NewSymDense(k, nil)
	if !(sums.one > tiniest) {
		return math.Inf(-1), d1, d2
	}
	c.derivatives(&sums, d1, d2)
	return math.Log(sums.one / float64(by.points)), d1, d2
}

// tiniest is the smallest sum of probabilities that is computed with. Parts of a smaller one
// would be below 2.2e-308, where numbers have fewer digits and their reciprocals overflow.
const tiniest = 1e-290

// add adds the contribution of point p of a lattice.
func (c *cone) add(sums *coneSums, by lattice, p int) {
	weight, top, z := 1.0, math.Inf(1), p
	last := c.k - 1
	for a := range last {
		mean, std := c.m[a], c.l[a*c.k+a]
		for j, x := range c.l[a*c.k : a*c.k+a] {
			mean += x * sums.here[j]
		}
		x := (float64(z) + 0.5) / float64(by.points)
		z = z * by.generator % by.points
		e, mass := draw(-mean/std, (top-mean)/std, math.Abs(2*x-1))
		if !(mass > 0) {
			return
		}
		sums.here[a] = e
		weight *= mass
		if a == 0 {
			top = mean + std*e
		}
	}
	mean, std := c.m[last], c.l[last*c.k+last]
	for j, x := range c.l[last*c.k : last*c.k+last] {
		mean += x * sums.here[j]
	}
	sums.add(weight, -mean/std, (top-mean)/std)
}

// draw returns the quantile x of a standard normal variable within [lo, hi], and the
// probability that it lies there.
func draw(lo, hi, x float64) (e, mass float64) {
	if lo > 0 { // else the probabilities would cancel
		e, mass = draw(-hi, -lo, 1-x)
		return -e, mass
	}
	from := above(-lo)
	mass = above(-hi) - from
	if !(mass > 0) {
		return 0, 0
	}
	e = mathext.NormalQuantile(from + x*mass)
	return min(max(e, lo), hi), mass
}

// add adds a point at here, whose last coordinate is integrated over [lo, hi].
func (s *coneSums) add(weight, lo, hi float64) {
	k, one := len(s.e), mass(lo, hi)
	if !(one > 0) {
		return
	}
	from, to := bell(lo), bell(hi)
	first, second := from-to, one+lo*from
	if !math.IsInf(hi, 1) {
		second -= hi * to
	}
	s.one += weight * one
	s.squares += weight * one * weight * one
	here := s.here[:k-1]
	for a, e := range here {
		s.e[a] += weight * one * e
		for b, f := range here[:a+1] {
			s.ee[a*k+b] += weight * one * e * f
		}
		s.ee[(k-1)*k+a] += weight * first * e
	}
	s.e[k-1] += weight * first
	s.ee[(k-1)*k+k-1] += weight * second
}

// derivatives stores the gradient of log P in the means of u, and minus the second derivatives.
// In y they are L⁻ᵀ E[e] and L⁻ᵀ (I − Cov(e)) L⁻¹.
func (c *cone) derivatives(sums *coneSums, d1 []float64, d2 *mat.SymDense) {
	k := c.k
	lost, back := mat.NewSymDense(k, nil), mat.NewDense(k, k, nil) // back: Jᵀ L⁻ᵀ with y = Ju
	mean := mat.NewVecDense(k, sums.e)
	mean.ScaleVec(1/sums.one, mean)
	for a := range k {
		for b := range a + 1 {
			lost.SetSym(a, b, mean.AtVec(a)*mean.AtVec(b)-sums.ee[a*k+b]/sums.one)
		}
		lost.SetSym(a, a, 1+lost.At(a, a))
	}
	for a, ends := range c.to {
		if ends[0] > 0 {
			back.Set(ends[0]-1, a, 1)
		}
		if ends[1] > 0 {
			back.Set(ends[1]-1, a, -1)
		}
	}
	for i := range k {
		row := back.RawRowView(i)
		for a := range k {
			for b := range a {
				row[a] -= row[b] * c.l[a*k+b]
			}
			row[a] /= c.l[a*k+a]
		}
	}
	mat.NewVecDense(k, d1).MulVec(back, mean)
	var half mat.Dense
	half.Mul(back, lost)
	var full mat.Dense
	full.Mul(&half, back.T())
	for i := range k {
		for j := range i + 1 {
			d2.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
}
