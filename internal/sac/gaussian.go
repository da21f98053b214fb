package sac

import (
	"math"
	"math/rand/v2"

	"tiebreak/internal/nn"
)

// Bounds of the logarithm of the standard deviation, as in Stable-Baselines3.
const (
	minLogStd = -20
	maxLogStd = 2
)

// A squashed holds actions that were drawn from tanh of a Gaussian,
//
//	a = tanh(u),  u = m + s ε,  ε ~ N(0, I),
//
// where the actor's output of a row is m and then log s, which is clipped to
// [minLogStd, maxLogStd]. All slices are rows×dim.
type squashed struct {
	dim     int
	noise   []float32 // ε
	action  []float32 // a
	slope   []float32 // 1 − a²
	spread  []float32 // s ε
	clipped []bool    // log s was

	logStd, u, logSlope []float32
}

func newSquashed(rows, dim int) *squashed {
	f := func() []float32 { return make([]float32, rows*dim) }
	return &squashed{dim: dim, noise: f(), action: f(), slope: f(), spread: f(), clipped: make([]bool, rows*dim), logStd: f(), u: f(), logSlope: f()}
}

// draw draws the noise of all rows.
func (q *squashed) draw(rng *rand.Rand) {
	for i := range q.noise {
		q.noise[i] = float32(rng.NormFloat64())
	}
}

// sample computes the actions for the actor's output, rows×2·dim, and stores the
// logarithms of their densities in logp, a number a row:
//
//	log p(a) = Σ −ε²/2 − log s − log √(2π) − log(1 − a²)
func (q *squashed) sample(out, logp []float32) {
	const halfLog2Pi = 0.9189385332046727
	for k := range q.spread {
		i, j := k/q.dim, k%q.dim
		v := out[(2*i+1)*q.dim+j]
		q.logStd[k] = max(minLogStd, min(maxLogStd, v))
		q.clipped[k] = q.logStd[k] != v
	}
	nn.Exp(q.spread, q.logStd)
	for k, e := range q.noise {
		i, j := k/q.dim, k%q.dim
		q.spread[k] *= e
		q.u[k] = out[2*i*q.dim+j] + q.spread[k]
	}
	nn.Squash(q.action, q.slope, q.logSlope, q.u)
	for i := range logp {
		sum := float32(0)
		for k := i * q.dim; k < (i+1)*q.dim; k++ {
			e := q.noise[k]
			sum -= float32(0.5*float32(e*e)) + q.logStd[k] + halfLog2Pi + q.logSlope[k]
		}
		logp[i] = sum
	}
}

// backward stores in dOut, rows×2·dim, the gradient with respect to the actor's output
// of L(a) + w Σ log p(a), where da is dL/da, rows×dim.
func (q *squashed) backward(dOut, da []float32, w float32) {
	for k, d := range da {
		i, j := k/q.dim, k%q.dim
		du := float32(d*q.slope[k]) + float32(2*w*q.action[k])
		dLogStd := float32(du*q.spread[k]) - w
		if q.clipped[k] {
			dLogStd = 0
		}
		dOut[2*i*q.dim+j] = du
		dOut[(2*i+1)*q.dim+j] = dLogStd
	}
}

// squash returns a = tanh(u), 1 − a², and log(1 − a²). With e = exp(−2|u|) they are
//
//	|a| = (1−e)/(1+e),  1−a² = 4e/(1+e)²,  log(1−a²) = 2 (log 2 − |u| − log(1+e)),
//
// which stay exact where 1 − a² rounds to 0.
func squash(u float32) (a, slope, logSlope float32) {
	x := min(40, float32(math.Abs(float64(u))))
	e := exp32(-2 * x)
	inv := 1 / (1 + e)
	a = (1 - e) * inv
	slope = 4 * e * inv * inv
	logSlope = 2 * (math.Ln2 - x - log1p32(e))
	if u < 0 {
		a = -a
	}
	return a, slope, logSlope
}

// exp32 returns eˣ for |x| ≤ 87 to 2 units in the last place. The standard library's
// has bits that depend on the processor. With n the integer next to x/log 2 and r =
// x − n log 2, it is 2ⁿ times a polynomial in r (Cephes, expf).
func exp32(x float32) float32 {
	const (
		round = 3 << 22 // adding it rounds to an integer
		high  = 0.693359375
		low   = -2.12194440e-4
	)
	n := float32(x*math.Log2E) + round
	bits := math.Float32bits(n)
	n -= round
	r := x - float32(n*high)
	r -= float32(n * low)
	p := float32(1.9875691500e-4)
	p = float32(p*r) + 1.3981999507e-3
	p = float32(p*r) + 8.3334519073e-3
	p = float32(p*r) + 4.1665795894e-2
	p = float32(p*r) + 1.6666665459e-1
	p = float32(p*r) + 5.0000001201e-1
	p = float32(p*float32(r*r)) + r + 1
	return p * math.Float32frombits((bits+127)<<23)
}

// log1p32 returns log(1+e) for e in [0, 1] to 2·10⁻⁷. With s = e/(2+e) it is
// 2 (s + s³/3 + s⁵/5 + …).
func log1p32(e float32) float32 {
	s := e / (2 + e)
	q := float32(s * s)
	p := float32(1. / 13)
	p = float32(p*q) + 1./11
	p = float32(p*q) + 1./9
	p = float32(p*q) + 1./7
	p = float32(p*q) + 1./5
	p = float32(p*q) + 1./3
	return 2 * (s + float32(float32(p*q)*s))
}
