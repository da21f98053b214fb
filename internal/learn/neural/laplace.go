package neural

import (
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A laplace is the posterior of the last layer about its mode, from a prior N(0, I/ridge)
// and some answers; answer i is about θ·x[i].
type laplace struct {
	ridge float64
	items []item
	x     [][]float64 // each of length d
}

// objective returns −Σ log p(answer | θ·x) + ridge ‖θ‖²/2.
func (l *laplace) objective(theta []float64) float64 {
	sum := l.ridge / 2 * floats.Dot(theta, theta)
	for i := range l.items {
		value, _, _ := logP(&l.items[i], floats.Dot(theta, l.x[i]))
		sum -= value
	}
	return sum
}

// derivatives returns the gradient of the objective, and its second derivatives. An answer
// that would widen the posterior, as a lapse can, has no part in these, so that the matrix
// is positive definite.
func (l *laplace) derivatives(theta []float64) (*mat.VecDense, *mat.SymDense) {
	d := len(theta)
	g, h := mat.NewVecDense(d, nil), l.prior(d)
	g.ScaleVec(l.ridge, mat.NewVecDense(d, theta))
	for i := range l.items {
		x := mat.NewVecDense(d, l.x[i])
		_, d1, d2 := logP(&l.items[i], floats.Dot(theta, l.x[i]))
		g.AddScaledVec(g, -d1, x)
		h.SymRankOne(h, max(0, -d2), x)
	}
	return g, h
}

// prior returns ridge·I.
func (l *laplace) prior(d int) *mat.SymDense {
	h := mat.NewSymDense(d, nil)
	for i := range d {
		h.SetSym(i, i, l.ridge)
	}
	return h
}

// Limits of the search for the mode.
const (
	newtonSteps     = 100
	newtonTolerance = 1e-10 // of the expected decrease of the objective, in nats
)

// mode returns the θ with the lowest objective. It uses Newton's method, with steps that are
// halved until they lower the objective, from theta, which it overwrites.
func (l *laplace) mode(theta []float64) ([]float64, error) {
	value := l.objective(theta)
	step, next := mat.NewVecDense(len(theta), nil), make([]float64, len(theta))
	for range newtonSteps {
		g, h := l.derivatives(theta)
		var c mat.Cholesky
		if !c.Factorize(h) || c.SolveVecTo(step, g) != nil {
			return nil, errNotDefinite
		}
		decrease := mat.Dot(g, step)
		if decrease < newtonTolerance {
			break
		}
		lower := false
		for t := 1.0; t > 1e-6 && !lower; t /= 2 {
			floats.AddScaledTo(next, theta, -t, step.RawVector().Data)
			if v := l.objective(next); v <= value-1e-4*t*decrease {
				value, lower = v, true
				copy(theta, next)
			}
		}
		if !lower {
			break // by rounding
		}
	}
	return theta, nil
}

var errNotDefinite = idrl.Errorf(idrl.Internal, "the second derivatives of the reward network are not positive definite")

// posterior returns N(theta, H⁻¹), H the second derivatives at theta.
func (l *laplace) posterior(theta []float64) (*belief.Gaussian, error) {
	_, h := l.derivatives(theta)
	return belief.FromPrecision(theta, h)
}

// paperPosterior returns N(theta, H⁻¹) with H = ridge·I + Σ p(1 − p) x xᵀ, p = σ(θ·x), of
// the authors' code, whatever the answers.
func (l *laplace) paperPosterior(theta []float64) (*belief.Gaussian, error) {
	h := l.prior(len(theta))
	for _, x := range l.x {
		h.SymRankOne(h, slopeOf(floats.Dot(theta, x)), mat.NewVecDense(len(x), x))
	}
	return belief.FromPrecision(theta, h)
}

// slopeOf returns p(1 − p), p = σ(u), without loss of digits where p is near 1.
func slopeOf(u float64) float64 {
	e := math.Exp(-math.Abs(u))
	return e / ((1 + e) * (1 + e))
}
