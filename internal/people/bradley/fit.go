package bradley

import (
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A Prior is independent normal distributions with mean 0 of the strengths and of η. Infinite
// standard deviations give maximum likelihood.
type Prior struct {
	Std    float64 // of a strength, in units of the logarithm of odds
	TieStd float64 // of η
}

// Weak is the prior of arenas. It has as much information about two entrants as half an answer:
// with Std 2 the precision of their difference is 1/8, and an answer about two equal entrants
// without ties has information 1/4. It keeps the strengths finite if one entrant has won every
// comparison. η = 0 means that one in three answers about equal entrants is a tie.
var Weak = Prior{Std: 2, TieStd: 2}

// A Fit has the most probable strengths, given a table and a prior.
type Fit struct {
	Strengths []float64 // whose sum is 0, in units of the logarithm of odds
	Eta       float64   // propensity to say 'equal'

	table *Table
	prior Prior
	chol  mat.Cholesky // of minus the second derivatives at the maximum, n strengths and η
}

const (
	maxNewton = 200
	tolerance = 1e-10 // of a step
	rounding  = 1e-8  // of the logarithm of a density
	diverged  = 50    // a strength beyond every finite maximum
)

// Fit returns the maximum of the posterior density by Newton's method. It returns an error of kind
// Invalid if there is none, which is possible only under infinite standard deviations: if some
// entrants were never preferred to any of the others, or no answer is a tie.
func (t *Table) Fit(prior Prior) (Fit, error) {
	n := t.n
	f := Fit{table: t, prior: prior}
	x, g, h := make([]float64, n+1), make([]float64, n+1), mat.NewSymDense(n+1, nil)
	step := mat.NewVecDense(n+1, nil)
	value := f.logDensity(x)
	for range maxNewton {
		f.derivatives(x, g, h)
		if !f.chol.Factorize(h) {
			return f, noMaximum()
		}
		if err := f.chol.SolveVecTo(step, mat.NewVecDense(n+1, g)); err != nil && f.chol.Cond() > 1e14 {
			return f, noMaximum()
		}
		d := step.RawVector().Data
		if floats.Norm(d, math.Inf(1)) < tolerance {
			f.Eta = x[n]
			f.Strengths = centred(x[:n])
			return f, nil
		}
		if x, value = f.climb(x, d, g, value); floats.Norm(x, math.Inf(1)) > diverged {
			return f, noMaximum()
		}
	}
	return f, noMaximum()
}

func noMaximum() error {
	return idrl.Errorf(idrl.Invalid, "the maximum-likelihood strengths do not exist: some entrants were never preferred to the others, or no answer is a tie")
}

// climb returns x + d, or a shorter step if that has a lower value. g is the gradient at x.
func (f *Fit) climb(x, d, g []float64, value float64) ([]float64, float64) {
	slope := floats.Dot(d, g)
	for share := 1.0; ; share /= 2 {
		next := floats.AddScaledTo(make([]float64, len(x)), x, share, d)
		v := f.logDensity(next)
		if v >= value+1e-4*share*slope || slope < rounding { // then the values are equal but for rounding
			return next, v
		}
	}
}

// logDensity returns the logarithm of the posterior density at x, up to a constant. The sum of
// strengths, about which answers say nothing, is normal too: with variance 1 under an infinite
// standard deviation.
func (f *Fit) logDensity(x []float64) float64 {
	n := f.table.n
	v := f.table.logLikelihood(x)
	for _, s := range x[:n] {
		v -= s * s / 2 * f.precision()
	}
	if math.IsInf(f.prior.Std, 1) {
		sum := floats.Sum(x[:n])
		v -= sum * sum / 2
	}
	return v - x[n]*x[n]/2*f.tiePrecision()
}

func (f *Fit) precision() float64    { return 1 / (f.prior.Std * f.prior.Std) }
func (f *Fit) tiePrecision() float64 { return 1 / (f.prior.TieStd * f.prior.TieStd) }

// derivatives stores the gradient of logDensity at x in g, and minus its second derivatives in
// h. An answer about i and j is a choice of one of three with the directions e_i, e_j and
// (e_i + e_j)/2 + e_η: the gradient is what was observed minus what is expected of these, and
// the second derivative their covariance.
func (f *Fit) derivatives(x, g []float64, h *mat.SymDense) {
	t := f.table
	n := t.n
	clear(g)
	h.Zero()
	add := func(i, j int, v float64) { h.SetSym(i, j, h.At(i, j)+v) }
	for i := range n {
		for j := i + 1; j < n; j++ {
			w, l, d := t.wins[i*n+j], t.wins[j*n+i], t.ties[i*n+j]
			m := w + l + d
			if m == 0 {
				continue
			}
			p, q, e := chances(x[i], x[j], x[n])
			mi, mj := p+e/2, q+e/2 // the mean direction is mi·e_i + mj·e_j + e·e_η
			g[i] += w + d/2 - m*mi
			g[j] += l + d/2 - m*mj
			g[n] += d - m*e
			add(i, i, m*(p+e/4-mi*mi))
			add(j, j, m*(q+e/4-mj*mj))
			add(i, j, m*(e/4-mi*mj))
			add(i, n, m*(e/2-mi*e))
			add(j, n, m*(e/2-mj*e))
			add(n, n, m*(e-e*e))
		}
	}
	pin := 0.0
	if math.IsInf(f.prior.Std, 1) {
		pin = 1
	}
	sum := floats.Sum(x[:n])
	for i := range n {
		g[i] -= x[i]*f.precision() + pin*sum
		add(i, i, f.precision())
		for j := i; j < n; j++ {
			add(i, j, pin)
		}
	}
	g[n] -= x[n] * f.tiePrecision()
	add(n, n, f.tiePrecision())
}

func centred(s []float64) []float64 {
	out := make([]float64, len(s))
	mean := floats.Sum(s) / float64(len(s))
	for i, v := range s {
		out[i] = v - mean
	}
	return out
}

// Preferred returns the probability that i is preferred to j when one of them is.
func (f Fit) Preferred(i, j int) float64 { return logistic(f.Strengths[i] - f.Strengths[j]) }

// Tied returns the probability that i and j are called equal.
func (f Fit) Tied(i, j int) float64 {
	_, _, e := chances(f.Strengths[i], f.Strengths[j], f.Eta)
	return e
}

func logistic(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
