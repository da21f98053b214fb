package answerable

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Lesson is a training example from a reply: how clear it was, in [0, 1].
type Lesson struct {
	Question
	Clear float64
}

// The fit ends when no weight moves by more than smallStep, or after mostSteps.
const (
	mostSteps = 50
	smallStep = 1e-9
)

// Fit returns the model with the weights that are most probable after lessons:
//
//	argmax_w Σ_i y_i log σ(w·x_i) + (1 − y_i) log σ(−w·x_i) − ½ Σ_k (w_k − m_k)²/s_k²,
//
// where y is how clear a reply was. The maximum is the only one, and Newton's method with
// halved steps finds it; it is a function of the lessons in their order.
func Fit(lessons []Lesson) Model {
	f := fit{rows: make([][terms]float64, len(lessons)), lessons: lessons}
	for i, l := range lessons {
		f.rows[i] = l.row()
	}
	m, value := Prior(), 0.0
	value = f.value(m)
	for range mostSteps {
		step, ok := f.step(m)
		moved := 0.0
		for scale := 1.0; ok && scale > 1e-6; scale /= 2 {
			next := m
			for k := range next.weights {
				next.weights[k] += scale * step[k]
			}
			if v := f.value(next); v >= value {
				for k := range step {
					moved = max(moved, math.Abs(scale*step[k]))
				}
				m, value = next, v
				break
			}
		}
		if moved <= smallStep {
			break
		}
	}
	return m
}

// A fit has the data of Fit.
type fit struct {
	rows    [][terms]float64
	lessons []Lesson
}

// value returns the objective of Fit.
func (f *fit) value(m Model) (sum float64) {
	for i, x := range f.rows {
		t := m.logOdds(x)
		// log σ(t) = −log1p(e⁻ᵗ); the larger exponent is kept out of e.
		sum += f.lessons[i].Clear*t - max(t, 0) - math.Log1p(math.Exp(-math.Abs(t)))
	}
	for k, w := range m.weights {
		z := (w - priorMean[k]) / priorStd[k]
		sum -= 0.5 * z * z
	}
	return sum
}

// step returns a step of Newton's method from m; false if rounding has made the matrix singular.
func (f *fit) step(m Model) (out [terms]float64, ok bool) {
	gradient := mat.NewVecDense(terms, nil)
	minus := mat.NewSymDense(terms, nil) // the Hessian with the other sign
	for k, w := range m.weights {
		v := priorStd[k] * priorStd[k]
		gradient.SetVec(k, -(w-priorMean[k])/v)
		minus.SetSym(k, k, 1/v)
	}
	g, h := gradient.RawVector().Data, minus.RawSymmetric().Data
	for i, x := range f.rows {
		p := logistic(m.logOdds(x))
		rest, bend := f.lessons[i].Clear-p, p*(1-p)
		for k, xk := range x {
			g[k] += rest * xk
			for l := k; l < terms; l++ {
				h[k*terms+l] += bend * xk * x[l]
			}
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(minus) {
		return out, false
	}
	err := factor.SolveVecTo(gradient, gradient)
	copy(out[:], g)
	return out, err == nil
}
