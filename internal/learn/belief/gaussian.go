package belief

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// MaxDim is the largest dimension of a Gaussian.
const MaxDim = 4096

// Gaussian is the belief θ ~ N(mean, cov) over reward weights. It is
// immutable: Condition returns a new one, and any number of goroutines may share
// it.
type Gaussian struct {
	mean []float64 // length d
	cov  []float64 // Σ, d×d by rows, symmetric to the last bit

	factorOnce sync.Once         // guards factor, which only Sample needs
	factor     blas64.Triangular // L with LLᵀ = Σ (+ jitter)
}

var _ idrl.Posterior = (*Gaussian)(nil)

// NewGaussian returns N(mean, cov). It copies its arguments. It returns an
// error of kind Invalid if their sizes disagree, if a number is not finite, or
// if cov is not positive definite.
func NewGaussian(mean []float64, cov *mat.SymDense) (*Gaussian, error) {
	d := cov.SymmetricDim()
	if d != len(mean) || d > MaxDim {
		return nil, idrl.Errorf(idrl.Invalid, "a belief needs a mean and a covariance of one size up to %d; got %d and %d", MaxDim, len(mean), d)
	}
	g := blank(d)
	copy(g.mean, mean)
	for i := range d {
		for j := range d {
			g.cov[i*d+j] = cov.At(i, j)
		}
	}
	if !finite(g.mean...) || !finite(g.cov...) {
		return nil, idrl.Errorf(idrl.Invalid, "a belief must be made of finite numbers")
	}
	if _, ok := cholesky(g.cov, d, 0); !ok {
		return nil, idrl.Errorf(idrl.Invalid, "the covariance of a belief must be positive definite")
	}
	return g, nil
}

// Isotropic returns N(0, variance·I) in d dimensions. It panics if d is not in
// [1, MaxDim] or variance is not positive and finite.
func Isotropic(d int, variance float64) *Gaussian {
	if d < 1 || d > MaxDim || !(variance > 0) || math.IsInf(variance, 1) {
		panic("belief: an isotropic belief needs a dimension and a variance above zero")
	}
	g := blank(d)
	for i := range d {
		g.cov[i*d+i] = variance
	}
	return g
}

// blank returns a Gaussian of dimension d whose numbers are zero.
func blank(d int) *Gaussian {
	return &Gaussian{mean: make([]float64, d), cov: make([]float64, d*d)}
}

// Dim returns d.
func (g *Gaussian) Dim() int { return len(g.mean) }

// Mean stores E[θ] in dst and returns it. If dst is nil a new slice is
// allocated; otherwise its length must be d.
func (g *Gaussian) Mean(dst []float64) []float64 {
	if dst == nil {
		return slices.Clone(g.mean)
	}
	g.check(dst)
	copy(dst, g.mean)
	return dst
}

// CovMul stores Σx in dst. dst and x must have length d and not overlap. It
// does not allocate; the cost is O(d²).
func (g *Gaussian) CovMul(dst, x []float64) {
	g.check(dst)
	g.check(x)
	d := len(x)
	blas64.Gemv(blas.NoTrans, 1, blas64.General{Rows: d, Cols: d, Stride: d, Data: g.cov},
		blas64.Vector{N: d, Inc: 1, Data: x}, 0, blas64.Vector{N: d, Inc: 1, Data: dst})
}

// Cov stores Σ in dst, whose size must be d, or which must be empty.
func (g *Gaussian) Cov(dst *mat.SymDense) {
	if dst.IsEmpty() {
		dst.ReuseAsSym(len(g.mean))
	}
	if dst.SymmetricDim() != len(g.mean) {
		panic("belief: a matrix has the wrong size")
	}
	dst.CopySym(mat.NewSymDense(len(g.mean), g.cov))
}

// Sample stores a draw of θ in dst and returns it, under the rules of Mean. The
// first call factorises Σ in O(d³); the factor is kept for later calls.
func (g *Gaussian) Sample(dst []float64, rng *rand.Rand) []float64 {
	if dst == nil {
		dst = make([]float64, len(g.mean))
	}
	g.check(dst)
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
	return g.SampleFrom(dst, dst)
}

// SampleFrom stores μ + Lz in dst and returns it, where Σ = LLᵀ and L is lower
// triangular: the draw of θ that the standard normal numbers z stand for. z has
// length d and may be dst; dst follows the rules of Mean, the cost those of
// Sample.
func (g *Gaussian) SampleFrom(dst, z []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(g.mean))
	}
	g.check(dst)
	g.check(z)
	g.factorOnce.Do(g.factorise)
	copy(dst, z)
	blas64.Trmv(blas.NoTrans, g.factor, blas64.Vector{N: len(dst), Inc: 1, Data: dst})
	floats.Add(dst, g.mean)
	return dst
}

// Predictive returns N(μ, Σ + noiseVar·I), the belief about an observation of
// each weight with noise of that variance. The authors' code calls it the
// posterior after the first answer, and only the reproduction of that code uses it
// (docs/paper-code.md, section 2). It panics if noiseVar is negative or not
// finite.
func (g *Gaussian) Predictive(noiseVar float64) *Gaussian {
	if !(noiseVar >= 0) || math.IsInf(noiseVar, 1) {
		panic("belief: a noise variance must be finite and not negative")
	}
	out, d := g.clone(), len(g.mean)
	for i := range d {
		out.cov[i*d+i] += noiseVar
	}
	return out
}

// precisionOf returns xᵀΣ⁻¹x, and keeps the factor of Σ as Sample does.
func (g *Gaussian) precisionOf(x []float64) float64 {
	g.check(x)
	g.factorOnce.Do(g.factorise)
	z := slices.Clone(x)
	blas64.Trsv(blas.NoTrans, g.factor, blas64.Vector{N: len(z), Inc: 1, Data: z})
	return floats.Dot(z, z)
}

// widen makes Σ ← Σ + c xxᵀ in place. Nothing else may use the belief.
func (g *Gaussian) widen(x []float64, c float64) {
	d := len(x)
	for i, a := range x {
		for j := range i + 1 {
			v := g.cov[i*d+j] + c*(a*x[j])
			g.cov[i*d+j], g.cov[j*d+i] = v, v
		}
	}
}

// factorise sets g.factor. If Σ is not positive definite because of rounding, it adds the
// smallest jitter of 1e-10, 1e-8, … times the largest variance over d with which it is.
func (g *Gaussian) factorise() {
	d := len(g.mean)
	scale := math.SmallestNonzeroFloat64
	for i := range d {
		scale = max(scale, g.cov[i*d+i]/float64(d))
	}
	jitter := 0.0
	for {
		l, ok := cholesky(g.cov, d, jitter)
		if ok {
			g.factor = l
			return
		}
		jitter = max(1e-10*scale, 1e2*jitter, math.SmallestNonzeroFloat64)
	}
}

// cholesky returns the lower factor of cov + jitter·I, and whether there is one.
func cholesky(cov []float64, d int, jitter float64) (blas64.Triangular, bool) {
	s := mat.NewSymDense(d, slices.Clone(cov))
	for i := range d {
		s.SetSym(i, i, s.At(i, i)+jitter)
	}
	var c mat.Cholesky
	if !c.Factorize(s) {
		return blas64.Triangular{}, false
	}
	var l mat.TriDense
	c.LTo(&l)
	return l.RawTriangular(), true
}

// Condition returns the belief after one answer about u = θ·x:
//
//	μ' = μ + α Σx
//	Σ' = Σ − κ (Σx)(Σx)ᵀ
//
// with α = ∂ log Z/∂m and κ = −∂² log Z/∂m². It is exact for an answer with
// Gaussian noise and the assumed-density (moment-matching) step for any other.
// Source: docs/methods.md, section 2.1. x has length d, and α and κ must be
// finite. g is unchanged. If κ is so large by rounding that a variance would be below zero,
// it is reduced. If Σx = 0 the answer has no information about θ, and g itself is returned.
// The cost is O(d²).
func (g *Gaussian) Condition(x []float64, alpha, kappa float64) *Gaussian {
	if !finite(alpha, kappa) {
		panic("belief: an observation must be finite")
	}
	d := len(g.mean)
	sx := make([]float64, d)
	g.CovMul(sx, x)
	if floats.Norm(sx, math.Inf(1)) == 0 {
		return g
	}
	out := g.clone()
	out.shift(x, sx, alpha, kappa)
	return out
}

// clone returns a copy of g that is not shared yet.
func (g *Gaussian) clone() *Gaussian {
	return &Gaussian{mean: slices.Clone(g.mean), cov: slices.Clone(g.cov)}
}

// shift is Condition in place, where sx is Σx, which it overwrites.
func (g *Gaussian) shift(x, sx []float64, alpha, kappa float64) {
	d := len(g.mean)
	floats.AddScaled(g.mean, alpha, sx)
	kappa = min(kappa, g.most(x, sx))
	floats.Scale(math.Sqrt(math.Abs(kappa)), sx) // so that the products below are symmetric to the last bit
	v := blas64.Vector{N: d, Inc: 1, Data: sx}
	blas64.Ger(-math.Copysign(1, kappa), v, v, blas64.General{Rows: d, Cols: d, Stride: d, Data: g.cov})
	for i := range d {
		g.cov[i*d+i] = max(0, g.cov[i*d+i])
	}
}

// ConditionOnValue returns the belief after the observation y = θ·x + ε, ε ~ N(0, noiseVar).
// It panics if y is not finite or the variance of y is not above zero.
func (g *Gaussian) ConditionOnValue(x []float64, y, noiseVar float64) *Gaussian {
	m, v := g.moments(x)
	if !(noiseVar >= 0 && v+noiseVar > 0) {
		panic("belief: an answer needs a variance above zero")
	}
	_, d1, d2 := gaussianLogZ(y-m, v+noiseVar)
	return g.Condition(x, d1, -d2)
}

// most returns the largest κ that leaves the variances of θ·x and of every
// weight at zero or above, where sx = Σx. With Σ positive semi-definite it is
// 1/(x·Σx); rounding may make it less.
func (g *Gaussian) most(x, sx []float64) float64 {
	limit := math.Inf(1)
	if v := floats.Dot(x, sx); v > 0 {
		limit = 1 / v
	}
	d := len(sx)
	for i, s := range sx {
		if s2 := s * s; s2 > 0 {
			limit = min(limit, g.cov[i*d+i]/s2)
		}
	}
	return limit
}

// check panics if the length of v is not d.
func (g *Gaussian) check(v []float64) {
	if len(v) != len(g.mean) {
		panic("belief: a vector has the wrong length")
	}
}

// finite reports whether every number is.
func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
