package regret

import (
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// unlearnt is the share of the prior variance from which on a direction of the weights counts as
// not asked about.
const unlearnt = 0.9

// far is the largest assumed distance of a weight from 0, in standard deviations of the prior.
const far = 2

// An Asked splits directions of the weights into those about which answers have information and the others.
// In the coordinates w = L⁻¹θ, with LLᵀ the prior covariance, the prior is N(·, I) and the
// posterior covariance has eigenvalues in (0, 1]; the directions that were not asked about are the
// eigenvectors whose eigenvalue is at least 0.9.
type Asked struct {
	mean    []float64
	l       mat.TriDense // L
	values  []float64    // eigenvalues, ascending
	vectors mat.Dense    // eigenvectors, in columns
	scale   []float64    // prior standard deviations of the weights
}

// NewAsked returns the split for a posterior p, which was updated from prior. The cost is O(d³). ok is false
// if the covariance of prior cannot be factored.
func NewAsked(prior, p idrl.Posterior) (a *Asked, ok bool) {
	d := p.Dim()
	before, after := covariance(prior), covariance(p)
	var chol mat.Cholesky
	if !chol.Factorize(before) {
		return nil, false
	}
	a = &Asked{mean: p.Mean(nil), scale: make([]float64, d)}
	for k := range d {
		a.scale[k] = math.Sqrt(before.At(k, k))
	}
	chol.LTo(&a.l)
	var half, whole mat.Dense
	if half.Solve(&a.l, after) != nil || whole.Solve(&a.l, half.T()) != nil {
		return nil, false
	}
	inPrior := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			inPrior.SetSym(i, j, (whole.At(i, j)+whole.At(j, i))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(inPrior, true) {
		return nil, false
	}
	a.values = eigen.Values(nil)
	eigen.VectorsTo(&a.vectors)
	return a, true
}

// covariance returns Σ of p.
func covariance(p idrl.Posterior) *mat.SymDense {
	d := p.Dim()
	out, unit, column := mat.NewSymDense(d, nil), make([]float64, d), make([]float64, d)
	for k := range d {
		clear(unit)
		unit[k] = 1
		p.CovMul(column, unit)
		for i := range k + 1 {
			out.SetSym(i, k, column[i])
		}
	}
	return out
}

// Split returns the variance of θ·delta from the directions that were asked about, that from the
// others, and the part of delta along the others, length d.
func (a *Asked) Split(delta []float64) (asked, other float64, along []float64) {
	d := len(delta)
	var inPrior, of mat.VecDense
	inPrior.MulVec(a.l.T(), mat.NewVecDense(d, delta))
	of.MulVec(a.vectors.T(), &inPrior)
	for k, value := range a.values {
		v := value * of.AtVec(k) * of.AtVec(k)
		if value >= unlearnt {
			other += v
			continue
		}
		asked += v
		of.SetVec(k, 0)
	}
	inPrior.MulVec(&a.vectors, &of)
	var out mat.VecDense
	if out.SolveVec(a.l.T(), &inPrior) != nil {
		return asked, other, make([]float64, d)
	}
	return asked, other, out.RawVector().Data
}

// Decides returns a rival that may be better than known[leader] because of directions of the weights
// that were not asked about, and the feature with at least half of the variance along them, -1 if
// there is none. ok is false if there is no rival. A rival is a policy that is worse with probability
// 1 − doubt by the directions that were asked about, but better for a weight of two standard
// deviations of the prior along the others. Of several it is the one with the largest standard
// deviation of the difference of returns along the others. Policies for which that is at most least
// are left out.
func (a *Asked) Decides(known []idrl.Candidate, leader int, doubt, least float64) (rival, feature int, ok bool) {
	quantile := math.Sqrt2 * math.Erfinv(1-2*doubt)
	delta, most := make([]float64, len(a.mean)), 0.0
	for j, c := range known {
		if j == leader {
			continue
		}
		floats.SubTo(delta, known[leader].Mu, c.Mu)
		asked, other, along := a.Split(delta)
		ahead := floats.Dot(a.mean, delta)
		by := math.Sqrt(other)
		if by <= least || ahead < quantile*math.Sqrt(asked) || ahead >= far*by || by <= most {
			continue
		}
		rival, feature, ok, most = j, a.most(along), true, by
	}
	return rival, feature, ok
}

// most returns the feature that has at least half of the prior variance of θ·along, as if
// weights were independent; -1 if none has.
func (a *Asked) most(along []float64) int {
	sum, at := 0.0, 0
	part := func(k int) float64 { return along[k] * along[k] * a.scale[k] * a.scale[k] }
	for k := range along {
		sum += part(k)
		if part(k) > part(at) {
			at = k
		}
	}
	if part(at) < sum/2 {
		return -1
	}
	return at
}

// Loss returns the known policy that is best under the mean of p, and the loss of known[leader]
// relative to it, as a share of the span under that mean.
func Loss(p idrl.Posterior, known []idrl.Candidate, leader int) (best int, loss float64) {
	mean := p.Mean(nil)
	returns := make([]float64, len(known))
	for j, c := range known {
		returns[j] = floats.Dot(mean, c.Mu)
	}
	best = floats.MaxIdx(returns)
	if span := returns[best] - floats.Min(returns); span > 0 {
		loss = (returns[best] - returns[leader]) / span
	}
	return best, loss
}
