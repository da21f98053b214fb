package belief

import (
	"encoding/binary"
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/mat"
)

// Representer is a Gaussian process on a finite set of states: a Gaussian over the
// rewards of the states that are told apart, the representers. θ holds the rewards
// of the n representers, and a query is a vector of weights on them.
type Representer struct {
	Prior *Gaussian // N(0, K + jitter·I) over the rewards of the n representers

	index []int // of the representer of each state
}

// Representers returns the process with mean zero and kernel k on states whose
// representations are points, all of one length. States of one representation are
// one representer; the representers stand in the order in which they first appear.
// jitter ≥ 0 is added to the variances, which a k of low rank needs: 1e-10 times the
// variance is enough. It returns an error of kind Invalid if points are none, of
// different lengths or not finite, jitter is negative, there are more than MaxDim
// representers or their covariance is not positive definite.
func Representers(k Kernel, points [][]float64, jitter float64) (Representer, error) {
	if len(points) == 0 {
		return Representer{}, idrl.Errorf(idrl.Invalid, "a process needs at least one state")
	}
	if !(jitter >= 0) || !finite(jitter) {
		return Representer{}, idrl.Errorf(idrl.Invalid, "jitter must be 0 or a positive number; got %v", jitter)
	}
	for i, p := range points {
		if len(p) != len(points[0]) || !finite(p...) {
			return Representer{}, idrl.Errorf(idrl.Invalid, "state %d must have %d finite numbers, as state 0 has; got %v", i, len(points[0]), p)
		}
	}
	distinct, index := merge(points)
	if len(distinct) > MaxDim {
		return Representer{}, idrl.Errorf(idrl.Invalid, "a process holds at most %d different states; got %d", MaxDim, len(distinct))
	}
	cov := mat.NewSymDense(len(distinct), nil)
	for i, x := range distinct {
		for j, y := range distinct[:i] {
			cov.SetSym(i, j, k.At(x, y))
		}
		cov.SetSym(i, i, k.At(x, x)+jitter)
	}
	prior, err := NewGaussian(make([]float64, len(distinct)), cov)
	if err != nil {
		return Representer{}, err
	}
	return Representer{Prior: prior, index: index}, nil
}

// Index returns the representer of a state, which is one of the points given.
func (r Representer) Index(state int) int { return r.index[state] }

// X returns the linear reward query (states, weights) as weights on the
// representers, so that θ·X = Σ_j weights[j]·reward(states[j]). A state may occur
// more than once. It panics if the lengths differ or a state is none of the points.
// Source: the paper's definition of a linear reward query.
func (r Representer) X(states []int, weights []float64) []float64 {
	if len(states) != len(weights) {
		panic("belief: states and weights differ in number")
	}
	x := make([]float64, r.Prior.Dim())
	for j, s := range states {
		x[r.index[s]] += weights[j]
	}
	return x
}

// merge returns the points that differ, in the order in which they first appear, and
// the index among them of every point. −0 is 0.
func merge(points [][]float64) (distinct [][]float64, index []int) {
	seen := make(map[string]int, len(points))
	index = make([]int, len(points))
	var key []byte
	for i, p := range points {
		key = key[:0]
		for _, v := range p {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0))
		}
		at, ok := seen[string(key)]
		if !ok {
			at = len(distinct)
			seen[string(key)] = at
			distinct = append(distinct, p)
		}
		index[i] = at
	}
	return distinct, index
}
