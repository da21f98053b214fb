package acquisition

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// VIDS values a query by the information of its answer about which policy of the table is
// the best, in the variance form of Russo & Van Roy:
//
//	w_q Σ_k p_k (x_qᵀ(θ̄_k − μ))²,
//
// where p_k is the share of 256 draws of the reward under which policy k is the
// best, and θ̄_k their mean. It approximates I(π*; y), which the paper calls intractable. If
// one policy is the best under every draw, the values are those of TT. Source:
// docs/methods.md, section 1.3.
type VIDS struct{}

var _ Function = VIDS{}

// Score implements Function. It draws from in.Rand.
func (VIDS) Score(dst []float64, in *Input) (Pair, error) {
	t := in.Table
	t.clear(dst)
	if len(t.policies) < 2 {
		return noPair(), nil
	}
	rows := t.whenBest(t.draws(in.Rand))
	if rows.Rows < 2 {
		return TT{}.Score(dst, in)
	}
	t.products = eachProduct(t.products, t.c, rows, func(first int, products blas64.General) {
		for k := range products.Rows {
			for i, x := range row(products, k) {
				dst[first+i] += x * x
			}
		}
	})
	t.weigh(dst, in.best)
	return noPair(), nil
}

// whenBest returns √p_k (θ̄_k − μ) of the policies with p_k > 0, one per row, for draws
// theta, samples×d, under which the policies of best are the best.
func (t *Table) whenBest(theta blas64.General, best []int) blas64.General {
	share := shares(best, len(t.policies))
	index := make([]int, len(share)) // of the row of a policy
	n := 0
	for k, p := range share {
		if index[k] = n; p > 0 {
			n++
		}
	}
	out := matrix(n, t.belief.Dim())
	mean := t.belief.Mean(t.x)
	for i, k := range best {
		sum := row(out, index[k])
		floats.Add(sum, row(theta, i))
		floats.Sub(sum, mean)
	}
	for k, p := range share {
		if p > 0 {
			floats.Scale(math.Sqrt(p)/(p*samples), row(out, index[k]))
		}
	}
	return out
}
