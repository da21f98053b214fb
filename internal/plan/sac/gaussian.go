package sac

import (
	"math/rand/v2"

	"tiebreak/internal/base/nn"
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
