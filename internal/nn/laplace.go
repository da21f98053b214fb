package nn

import (
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Laplace is the Gaussian approximation of the belief about the last layer of a
// network after comparisons of clips:
//
//	H = λI + Σ p(1 − p) Δ Δᵀ,  p = 1/(1 + exp(−w3·Δ)),  covariance = H⁻¹
//
// where Δ is the difference of the features of the two clips of a comparison,
// summed over time. H does not depend on the answers. It is immutable. Source:
// docs/paper-code.md, section 6.
type Laplace struct {
	mean []float64 // w3
	h    *mat.SymDense
	chol mat.Cholesky
	u    mat.TriDense // H = UᵀU
}

// NewLaplace returns the approximation for a last layer with weights mean,
// length d, a ridge λ > 0, and the comparisons with these differences, each of
// length d. It keeps mean. It panics if a length or the ridge is wrong, and
// returns an error of kind Internal if H is not positive definite, which means
// that a number is not finite.
func NewLaplace(mean []float64, ridge float64, deltas [][]float64) (*Laplace, error) {
	if !(ridge > 0) { // so that NaN fails
		panic("nn: the ridge must be positive")
	}
	l := &Laplace{mean: mean}
	h := mat.NewSymDense(len(mean), nil)
	for i := range mean {
		h.SetSym(i, i, ridge)
	}
	for _, delta := range deltas {
		h.SymRankOne(h, l.weight(delta), mat.NewVecDense(len(delta), delta))
	}
	return l.with(h)
}

// with returns the approximation with the same mean and the Hessian h.
func (l *Laplace) with(h *mat.SymDense) (*Laplace, error) {
	out := &Laplace{mean: l.mean, h: h}
	if !out.chol.Factorize(h) {
		return nil, idrl.Errorf(idrl.Internal, "the Hessian of the reward network is not positive definite")
	}
	out.chol.UTo(&out.u)
	return out, nil
}

// Prob returns the probability that the first clip of a comparison is preferred.
func (l *Laplace) Prob(delta []float64) float64 {
	return 1 / (1 + math.Exp(-floats.Dot(l.mean, delta)))
}

// weight returns p(1 − p) without loss of digits where p is near 1.
func (l *Laplace) weight(delta []float64) float64 {
	e := math.Exp(-math.Abs(floats.Dot(l.mean, delta)))
	return e / ((1 + e) * (1 + e))
}

// Hessian stores H in dst, d×d.
func (l *Laplace) Hessian(dst *mat.SymDense) { dst.CopySym(l.h) }

// Cov stores H⁻¹ in dst, d×d, to draw from or to show: variances and scores
// solve with the factor of H instead.
func (l *Laplace) Cov(dst *mat.SymDense) error {
	if err := l.chol.InverseTo(dst); err != nil {
		return idrl.Errorf(idrl.Internal, "covariance of the reward network: %v", err)
	}
	return nil
}

// Given returns the approximation with one more comparison, whatever its answer.
func (l *Laplace) Given(delta []float64) (*Laplace, error) {
	h := mat.NewSymDense(len(l.mean), nil)
	h.SymRankOne(l.h, l.weight(delta), mat.NewVecDense(len(delta), delta))
	return l.with(h)
}

// Var returns the variance of the belief along x, xᵀH⁻¹x.
func (l *Laplace) Var(x []float64) float64 {
	z := l.whiten([][]float64{x})[0]
	return floats.Dot(z, z)
}

// whiten returns z = U⁻ᵀx for every one of xs, so that z·z' is the covariance of
// the belief along x and x'. It takes one triangular solve for all.
func (l *Laplace) whiten(xs [][]float64) [][]float64 {
	d := len(l.mean)
	all := make([]float64, len(xs)*d)
	zs := make([][]float64, len(xs))
	for i, x := range xs {
		if len(x) != d {
			panic("nn: features have the wrong length")
		}
		zs[i] = all[i*d : (i+1)*d]
		copy(zs[i], x)
	}
	if len(xs) > 0 {
		blas64.Trsm(blas.Right, blas.NoTrans, 1, l.u.RawTriangular(), blas64.General{Rows: len(xs), Cols: d, Data: all, Stride: d})
	}
	return zs
}

// VarianceScores stores in dst[k] the variance along deltas[k] and returns it;
// nil allocates. The baseline labels the pairs of clips with the largest.
func (l *Laplace) VarianceScores(dst []float64, deltas [][]float64) []float64 {
	dst = destination(dst, len(deltas))
	for k, z := range l.whiten(deltas) {
		dst[k] = floats.Dot(z, z)
	}
	return dst
}

// IDRLScores stores in dst[k] the variance along d that is left once the pair of
// clips with difference deltas[k] has been compared, and returns it; nil
// allocates. d is the difference of the features of two policies. With C = H⁻¹,
// Δ = deltas[k], and w = p(1 − p) of that pair,
//
//	dᵀ(H + w Δ Δᵀ)⁻¹d = dᵀC d − w (Δᵀ C d)²/(1 + w ΔᵀC Δ)
//
// by Sherman and Morrison. IDRL labels the pairs with the smallest.
func (l *Laplace) IDRLScores(dst []float64, deltas [][]float64, d []float64) []float64 {
	dst = destination(dst, len(deltas))
	along := l.whiten([][]float64{d})[0]
	now := floats.Dot(along, along)
	for k, z := range l.whiten(deltas) {
		w, shared := l.weight(deltas[k]), floats.Dot(z, along)
		dst[k] = now - w*shared*shared/(1+w*floats.Dot(z, z))
	}
	return dst
}

func destination(dst []float64, n int) []float64 {
	if dst == nil {
		return make([]float64, n)
	}
	if len(dst) != n {
		panic("nn: destination has the wrong length")
	}
	return dst
}
