package solver

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// A minimiser finds local minima of a smooth function over a box by projected
// BFGS, the two-metric projection of Bertsekas (Projected Newton methods for
// optimization problems with simple constraints, SIAM J. Control Optim. 20(2),
// 1982): variables that sit on a bound and are pushed against it take a plain
// gradient step, which projection undoes; the others take a quasi-Newton step
// in their own subspace. At kinks of f it may stop early.
type minimiser struct {
	f         func(grad, x []float64) float64 // stores the gradient in grad, unless that is nil
	low, high []float64

	g, d, h    []float64 // gradient, direction, and inverse Hessian (n×n, by rows)
	xNext      []float64
	gNext      []float64
	s, y, work []float64
	bound      []bool // variables on a bound and pushed against it
}

func newMinimiser(low, high []float64) *minimiser {
	n := len(low)
	v := func() []float64 { return make([]float64, n) }
	return &minimiser{
		low: low, high: high,
		g: v(), d: v(), h: make([]float64, n*n), xNext: v(), gNext: v(),
		s: v(), y: v(), work: v(), bound: make([]bool, n),
	}
}

// Limits of a run. On Driver, looser limits lower the return, and tighter ones
// raise it by less than 1e-6 of its size.
const (
	maxIterations = 150
	minGradient   = 1e-7 // largest component of the projected gradient
	minGain       = 1e-8 // relative decrease of f that counts as progress
	patience      = 2    // iterations without progress before giving up
	armijo        = 1e-4 // share of the predicted decrease that a step must bring
	backtracks    = 25
)

// random returns a uniformly random point of the box.
func (m *minimiser) random(rng *rand.Rand) []float64 {
	x := make([]float64, len(m.low))
	for i := range x {
		x[i] = m.low[i] + (m.high[i]-m.low[i])*rng.Float64()
	}
	return x
}

// run moves x to a local minimum and returns f there, or ctx.Err().
func (m *minimiser) run(ctx context.Context, x []float64) (float64, error) {
	fx := m.f(m.g, x)
	fresh := m.reset()
	for idle, i := 0, 0; i < maxIterations && idle < patience; i++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if m.direction(x) < minGradient {
			break
		}
		fNext, ok := m.search(x, fx)
		if !ok {
			if fresh {
				break
			}
			fresh = m.reset()
			continue
		}
		if fx-fNext > minGain*(1+math.Abs(fx)) {
			idle = 0
		} else {
			idle++
		}
		m.update(x, fresh)
		fresh = false
		fx = fNext
		copy(x, m.xNext)
		copy(m.g, m.gNext)
	}
	return fx, nil
}

// reset drops the estimate of the curvature. It returns true: the Hessian is fresh.
func (m *minimiser) reset() bool {
	n := len(m.low)
	clear(m.h)
	for i := range n {
		m.h[i*n+i] = 1
	}
	return true
}

// direction stores a direction of descent in m.d and returns the largest component of the projected
// gradient.
func (m *minimiser) direction(x []float64) float64 {
	largest := 0.0
	for i, g := range m.g {
		step := max(m.low[i], min(m.high[i], x[i]-g)) - x[i]
		largest = max(largest, math.Abs(step))
		eps := 1e-9 * (m.high[i] - m.low[i])
		m.bound[i] = g > 0 && x[i] <= m.low[i]+eps || g < 0 && x[i] >= m.high[i]-eps
	}
	n := len(m.g)
	for i := range n {
		m.d[i] = -m.g[i]
		if m.bound[i] {
			continue
		}
		m.d[i] = 0
		for j, h := range m.h[i*n : (i+1)*n] {
			if !m.bound[j] {
				m.d[i] -= h * m.g[j]
			}
		}
	}
	return largest
}

// search looks along the projection of x + αd for a point that is lower by
// enough (Armijo). It stores it in xNext, its gradient in gNext, and returns f
// there; ok is false if there is none.
func (m *minimiser) search(x []float64, fx float64) (fNext float64, ok bool) {
	alpha := 1.0
	for i, d := range m.d { // no variable moves further than its range
		if r := m.high[i] - m.low[i]; math.Abs(d) > r {
			alpha = min(alpha, r/math.Abs(d))
		}
	}
	for range backtracks {
		predicted := 0.0
		for i := range x {
			m.xNext[i] = max(m.low[i], min(m.high[i], x[i]+alpha*m.d[i]))
			predicted += m.g[i] * (x[i] - m.xNext[i])
		}
		fNext = m.f(m.gNext, m.xNext)
		if predicted > 0 && fNext <= fx-armijo*predicted {
			return fNext, true
		}
		alpha /= 2
	}
	return fx, false
}

// update improves the inverse Hessian by the step from x to xNext:
//
//	H' = (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ,  ρ = 1/(s·y)
//
// It leaves H alone where the curvature along the step is not positive.
func (m *minimiser) update(x []float64, fresh bool) {
	n := len(x)
	floats.SubTo(m.s, m.xNext, x)
	floats.SubTo(m.y, m.gNext, m.g)
	for i, bound := range m.bound {
		if bound { // its gradient says nothing about the others' subspace
			m.s[i], m.y[i] = 0, 0
		}
	}
	sy, yy := floats.Dot(m.s, m.y), floats.Dot(m.y, m.y)
	if !(sy > 1e-12*math.Sqrt(yy)*floats.Norm(m.s, 2)) { // so that NaN fails
		return
	}
	if fresh {
		floats.Scale(sy/yy, m.h)
	}
	for i := range n {
		m.work[i] = floats.Dot(m.h[i*n:(i+1)*n], m.y) // Hy
	}
	scale := (1 + floats.Dot(m.y, m.work)/sy) / sy
	for i := range n {
		for j := range n {
			m.h[i*n+j] += scale*m.s[i]*m.s[j] - (m.work[i]*m.s[j]+m.s[i]*m.work[j])/sy
		}
	}
}
