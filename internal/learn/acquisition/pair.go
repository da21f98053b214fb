package acquisition

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// A Pair is two policies of a table and the variance of the difference of their returns.
type Pair struct {
	First, Second int     // indexes of the policies; -1 if there are not two
	Var           float64 // of the difference of their returns, ≥ 0

	// share has the weights of all policies in a value about the differences between First
	// and several others, one of which is Second; nil if the value is about Second alone.
	share []float64

	// chances has the probability of each policy to be the best; nil if the function does
	// not draw samples.
	chances []float64
}

// noPair returns the Pair of a value that is not about two policies.
func noPair() Pair { return Pair{First: -1, Second: -1} }

// delta returns μ_i − μ_j, length d, which is valid until the next call.
func (t *Table) delta(i, j int) []float64 {
	return floats.SubTo(t.x, t.policies[i].Mu, t.policies[j].Mu)
}

// widest returns the pair i < j of the first n policies with the largest
// variance of the difference of their returns, plus extra(i, j) unless that is
// nil. Of equal pairs it returns the first if tie is nil, else one drawn uniformly by tie.
//
// The Gram matrix finds the pairs that may have the largest variance. The quadratic form
// decides between them: it does not cancel, and is equal to the last bit for equal policies.
func (t *Table) widest(n int, extra func(i, j int) float64, tie *rand.Rand) Pair {
	if n < 2 {
		return noPair()
	}
	if extra == nil {
		extra = func(int, int) float64 { return 0 }
	}
	var largest float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			largest = max(largest, t.spread(i, j)+extra(i, j))
		}
	}
	if !(largest <= math.MaxFloat64) {
		panic("acquisition: the feature expectations or the belief are not finite")
	}
	best := Pair{Var: -1}
	ties := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			if t.spread(i, j)+extra(i, j) < largest*(1-1e-9) {
				continue
			}
			v := t.variance(t.delta(i, j)) + extra(i, j)
			if v > best.Var {
				best, ties = Pair{First: i, Second: j, Var: v}, 1
			} else if v == best.Var && tie != nil {
				if ties++; tie.IntN(ties) == 0 { // each of the ties so far is equally likely
					best = Pair{First: i, Second: j, Var: v}
				}
			}
		}
	}
	return best
}

// variance returns δᵀΣδ, but no less than 0.
func (t *Table) variance(delta []float64) float64 {
	t.belief.CovMul(t.sx, delta)
	return max(0, floats.Dot(delta, t.sx))
}
