package cmaes

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Config holds the settings of a search.
type Config struct {
	Sigma  float64   // the first step size; required, > 0
	Lambda int       // candidates of a generation, at least 2; 0: 4 + ⌊3 ln n⌋
	Scale  []float64 // standard deviation of each number in units of Sigma, > 0; nil: ones
}

// A Strategy is a search: a normal distribution N(m, σ²C) of candidates that moves
// towards the better ones. Formulas and settings are those of N. Hansen: The CMA
// evolution strategy: a tutorial (arXiv:1604.00772), without negative weights; C is
// held by its Cholesky factor A, and the path of σ is that of Krause, Arbonès and Igel:
// CMA-ES with optimal covariance update and storage complexity (NeurIPS 2016). For odd λ
// the logarithm in the weights is that of λ/2, where the tutorial has (λ+1)/2.
//
// One goroutine at a time uses a Strategy.
type Strategy struct {
	weights
	mean    []float64
	sigma   float64
	factor  mat.Cholesky // of C
	pathC   []float64    // p_c
	pathS   []float64    // p_σ
	done    int          // generations told
	pending [][]float64  // the draws z of the candidates m + σAz that were asked for, in order
}

// weights are the constants of a search in n dimensions with lambda candidates.
type weights struct {
	n, lambda          int
	w                  []float64 // of the best half, in order; their sum is 1
	muEff              float64
	cc, cs, c1, cmu, d float64
	chi                float64 // E‖N(0, I)‖
}

func newWeights(n, lambda int) weights {
	k := weights{n: n, lambda: lambda}
	best := lambda / 2
	for i := range best {
		k.w = append(k.w, math.Log(float64(best)+0.5)-math.Log(float64(i+1)))
	}
	floats.Scale(1/floats.Sum(k.w), k.w)
	k.muEff = 1 / floats.Dot(k.w, k.w)
	dim := float64(n)
	k.cc = (4 + k.muEff/dim) / (dim + 4 + 2*k.muEff/dim)
	k.cs = (k.muEff + 2) / (dim + k.muEff + 5)
	k.c1 = 2 / ((dim+1.3)*(dim+1.3) + k.muEff)
	k.cmu = min(1-k.c1, 2*(k.muEff-2+1/k.muEff)/((dim+2)*(dim+2)+k.muEff))
	k.d = 1 + 2*max(0, math.Sqrt((k.muEff-1)/(dim+1))-1) + k.cs
	k.chi = math.Sqrt(dim) * (1 - 1/(4*dim) + 1/(21*dim*dim))
	return k
}

// New returns a search that begins at mean, whose length n is at least 1. It returns an
// error if a number is not finite or a setting is out of its range.
func New(mean []float64, c Config) (*Strategy, error) {
	n := len(mean)
	lambda := cmp.Or(c.Lambda, 4+int(3*math.Log(float64(max(n, 1)))))
	switch {
	case n == 0:
		return nil, fmt.Errorf("an evolution strategy needs at least one number")
	case lambda < 2:
		return nil, fmt.Errorf("an evolution strategy needs at least two candidates in a generation; got %d", lambda)
	case !positive(c.Sigma):
		return nil, fmt.Errorf("the step size of an evolution strategy must be positive; it is %v", c.Sigma)
	case c.Scale != nil && len(c.Scale) != n:
		return nil, fmt.Errorf("%d scales for %d numbers", len(c.Scale), n)
	}
	cov := mat.NewDiagDense(n, nil)
	for i, v := range mean {
		scale := 1.0
		if c.Scale != nil {
			scale = c.Scale[i]
		}
		if math.IsNaN(v) || math.IsInf(v, 0) || !positive(scale) {
			return nil, fmt.Errorf("number %d of an evolution strategy begins at %v with scale %v; both must be finite, and the scale positive", i, v, scale)
		}
		cov.SetDiag(i, scale*scale)
	}
	s := &Strategy{
		weights: newWeights(n, lambda), mean: slices.Clone(mean), sigma: c.Sigma,
		pathC: make([]float64, n), pathS: make([]float64, n),
	}
	if !s.factor.Factorize(cov) {
		return nil, fmt.Errorf("the scales of an evolution strategy are too small or too large to be squared: %v", c.Scale)
	}
	return s, nil
}

func positive(v float64) bool { return v > 0 && v <= math.MaxFloat64 }

// Mean returns a copy of the middle of the distribution: the best guess of the maximum.
func (s *Strategy) Mean() []float64 { return slices.Clone(s.mean) }

// Sigma returns the step size σ.
func (s *Strategy) Sigma() float64 { return s.sigma }

// Std stores the standard deviation of each number, σ√C_ii, in dst, which is allocated
// if it is nil, and returns it.
func (s *Strategy) Std(dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, s.n)
	}
	for i := range dst {
		dst[i] = s.sigma * math.Sqrt(s.factor.At(i, i))
	}
	return dst
}

// Generation returns how many generations have been told.
func (s *Strategy) Generation() int { return s.done }

// Lambda returns the number of candidates of a generation.
func (s *Strategy) Lambda() int { return s.lambda }

// Ask draws the candidates of a generation. Candidates of an earlier call without values are
// dropped.
func (s *Strategy) Ask(rng *rand.Rand) [][]float64 {
	s.pending = make([][]float64, s.lambda)
	for k := range s.pending {
		z := make([]float64, s.n)
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		s.pending[k] = z
	}
	return s.Asked()
}

// Asked returns the candidates that Ask drew last and that have no values yet.
func (s *Strategy) Asked() [][]float64 {
	xs := make([][]float64, len(s.pending))
	for k, z := range s.pending {
		xs[k] = s.step(z)
		floats.Scale(s.sigma, xs[k])
		floats.Add(xs[k], s.mean)
	}
	return xs
}

// step returns Az.
func (s *Strategy) step(z []float64) []float64 {
	y := mat.NewVecDense(s.n, nil)
	y.MulVec(s.factor.RawU().T(), mat.NewVecDense(s.n, z))
	return y.RawVector().Data
}

// Tell moves the distribution by the values of the candidates, in their order. A larger
// value is better; of equal ones the earlier candidate ranks first. NaN and −Inf rank last:
// such a candidate in the best half counts as one at the mean, and if all are such, the
// distribution only becomes narrower. It returns an error, and nothing changes, if no
// candidates were asked for, if the number of values is not theirs, or if a value is +Inf.
func (s *Strategy) Tell(values []float64) error {
	if len(s.pending) == 0 || len(values) != len(s.pending) {
		return fmt.Errorf("%d values for the %d candidates that an evolution strategy asked about", len(values), len(s.pending))
	}
	for i, v := range values {
		if math.IsInf(v, 1) {
			return fmt.Errorf("the value of candidate %d is infinite", i)
		}
	}
	chosen := s.best(values)
	z := make([]float64, s.n) // Σ w z
	for i, c := range chosen {
		floats.AddScaled(z, s.w[i], c)
	}
	s.update(z, chosen)
	s.pending = nil
	return nil
}

// best returns the draws of the best half in order, with zeros for candidates without a
// value.
func (s *Strategy) best(values []float64) [][]float64 {
	rank := func(v float64) float64 {
		if math.IsNaN(v) {
			return math.Inf(-1)
		}
		return v
	}
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(values[j]), rank(values[i])) })
	chosen := make([][]float64, len(s.w))
	for i := range chosen {
		chosen[i] = s.pending[order[i]]
		if math.IsInf(rank(values[order[i]]), -1) {
			chosen[i] = make([]float64, s.n)
		}
	}
	return chosen
}

// The step size stays within these bounds, so that all numbers are finite for any function.
const minSigma, maxSigma = 1e-100, 1e100

// update moves the distribution: z = Σ w z_i of the chosen draws.
func (s *Strategy) update(z []float64, chosen [][]float64) {
	steps := make([][]float64, len(chosen)) // Az_i
	for i, c := range chosen {
		steps[i] = s.step(c)
	}
	y := s.step(z)
	floats.AddScaled(s.mean, s.sigma, y)
	s.done++

	floats.Scale(1-s.cs, s.pathS)
	floats.AddScaled(s.pathS, math.Sqrt(s.cs*(2-s.cs)*s.muEff), z)
	length := floats.Norm(s.pathS, 2) / s.chi

	// The path of C stops while that of σ is long, so that C does not grow too fast.
	keep := 1 - s.c1 - s.cmu
	floats.Scale(1-s.cc, s.pathC)
	if length/math.Sqrt(1-math.Pow(1-s.cs, 2*float64(s.done))) < 1.4+2/float64(s.n+1) {
		floats.AddScaled(s.pathC, math.Sqrt(s.cc*(2-s.cc)*s.muEff), y)
	} else {
		keep += s.c1 * s.cc * (2 - s.cc)
	}
	s.factor.Scale(max(keep, math.SmallestNonzeroFloat64), &s.factor)
	s.factor.SymRankOne(&s.factor, s.c1, mat.NewVecDense(s.n, s.pathC))
	for i, step := range steps {
		s.factor.SymRankOne(&s.factor, s.cmu*s.w[i], mat.NewVecDense(s.n, step))
	}
	s.sigma = max(minSigma, min(maxSigma, s.sigma*math.Exp(s.cs/s.d*(length-1))))
}
