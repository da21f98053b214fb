package cmaes

import (
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/pack"

	"gonum.org/v1/gonum/mat"
)

// A state is a Strategy as plain values.
type state struct {
	Lambda       int
	Mean         []float64
	Sigma        float64
	Factor       []float64 // U with UᵀU = C, the upper triangle by rows
	PathC, PathS []float64
	Generation   int
	Pending      [][]float64
}

// Encode returns the bytes of s, at any time: between generations, or between Ask and Tell. The
// search that Decode returns continues exactly as s does.
func (s *Strategy) Encode() []byte {
	v := state{
		Lambda: s.lambda, Mean: s.mean, Sigma: s.sigma,
		PathC: s.pathC, PathS: s.pathS, Generation: s.done, Pending: s.pending,
	}
	u := s.factor.RawU()
	for i := range s.n {
		for j := i; j < s.n; j++ {
			v.Factor = append(v.Factor, u.At(i, j))
		}
	}
	b, err := pack.Encode(&v)
	if err != nil {
		panic("cmaes: " + err.Error()) // plain numbers
	}
	return b
}

// Decode returns the search from bytes of Encode, or an error if b is not a result of it.
func Decode(b []byte) (*Strategy, error) {
	v, err := pack.Decode[state](b)
	if err != nil {
		return nil, fmt.Errorf("decode an evolution strategy: %w", err)
	}
	if err := v.check(); err != nil {
		return nil, fmt.Errorf("decode an evolution strategy: %w", err)
	}
	n := len(v.Mean)
	s := &Strategy{
		weights: newWeights(n, v.Lambda), mean: v.Mean, sigma: v.Sigma,
		pathC: v.PathC, pathS: v.PathS, done: v.Generation, pending: v.Pending,
	}
	u := mat.NewTriDense(n, mat.Upper, nil)
	for i := range n {
		for j := i; j < n; j++ {
			u.SetTri(i, j, v.Factor[0])
			v.Factor = v.Factor[1:]
		}
	}
	s.factor.SetFromU(u)
	return s, nil
}

func (v state) check() error {
	n := len(v.Mean)
	switch {
	case n == 0 || v.Lambda < 2 || v.Generation < 0:
		return fmt.Errorf("%d numbers, %d candidates and %d generations", n, v.Lambda, v.Generation)
	case len(v.PathC) != n || len(v.PathS) != n || len(v.Factor) != n*(n+1)/2:
		return fmt.Errorf("paths of %d and %d numbers and a factor of %d for %d numbers", len(v.PathC), len(v.PathS), len(v.Factor), n)
	case len(v.Pending) != 0 && len(v.Pending) != v.Lambda:
		return fmt.Errorf("%d candidates asked for instead of %d", len(v.Pending), v.Lambda)
	case !positive(v.Sigma):
		return fmt.Errorf("the step size is %v", v.Sigma)
	}
	for _, z := range v.Pending {
		if len(z) != n {
			return fmt.Errorf("a candidate of %d numbers instead of %d", len(z), n)
		}
	}
	for _, x := range slices.Concat(v.Pending, [][]float64{v.Mean, v.PathC, v.PathS, v.Factor}) {
		for _, number := range x {
			if math.IsNaN(number) || math.IsInf(number, 0) {
				return fmt.Errorf("a number is %v", number)
			}
		}
	}
	for i, k := 0, 0; i < n; k, i = k+n-i, i+1 {
		if !(v.Factor[k] > 0) {
			return fmt.Errorf("the factor of the covariance has %v on its diagonal", v.Factor[k])
		}
	}
	return nil
}
