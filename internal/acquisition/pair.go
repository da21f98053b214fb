package acquisition

import (
	"math/rand/v2"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// A pair is two candidates and what is not known of the difference of their
// returns.
type pair struct {
	first, second int       // indexes of the candidates, first < second; -1 if there are not two
	delta         []float64 // μ_first − μ_second, length d; nil if there are not two
	variance      float64   // δᵀΣδ ≥ 0
}

// widest returns the pair of candidates i < j with the largest variance of the
// difference of their returns: of equal ones the first if tie is nil, else one
// drawn uniformly by tie.
//
// The Gram matrix of the candidates finds the pairs that may be the largest; the
// quadratic form itself, which does not cancel and gives equal candidates equal
// bits, decides between them.
func widest(p idrl.Posterior, candidates []idrl.Candidate, tie *rand.Rand) pair {
	n := len(candidates)
	if n < 2 {
		return pair{first: -1, second: -1}
	}
	a, sa := centred(p, candidates)
	gram := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	for i := range n {
		blas64.Gemv(blas.NoTrans, 1, a, vector(row(sa, i)), 0, vector(row(gram, i)))
	}
	spread := func(i, j int) float64 { return gram.Data[i*n+i] + gram.Data[j*n+j] - 2*gram.Data[i*n+j] }
	var largest float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			largest = max(largest, spread(i, j))
		}
	}
	best := pair{first: -1, second: -1, delta: make([]float64, p.Dim()), variance: -1}
	ties := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			if spread(i, j) < largest*(1-1e-9) {
				continue
			}
			v := difference(a, sa, i, j)
			if v > best.variance {
				best.first, best.second, best.variance, ties = i, j, v, 1
			} else if v == best.variance && tie != nil {
				if ties++; tie.IntN(ties) == 0 { // each of the ties so far is equally likely
					best.first, best.second = i, j
				}
			}
		}
	}
	if best.first < 0 {
		panic("acquisition: the feature expectations or the belief are not finite")
	}
	floats.SubTo(best.delta, candidates[best.first].Mu, candidates[best.second].Mu)
	return best
}

// centred returns the rows μ_i − μ_0 and Σ(μ_i − μ_0), which leave out what the
// candidates share.
func centred(p idrl.Posterior, candidates []idrl.Candidate) (a, sa blas64.General) {
	n, d := len(candidates), p.Dim()
	a = blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	sa = blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i, c := range candidates {
		floats.SubTo(row(a, i), c.Mu, candidates[0].Mu)
		p.CovMul(row(sa, i), row(a, i))
	}
	return a, sa
}

// difference returns (a_i − a_j)·(sa_i − sa_j), but no less than 0.
func difference(a, sa blas64.General, i, j int) float64 {
	ai, aj, si, sj := row(a, i), row(a, j), row(sa, i), row(sa, j)
	var v float64
	for k := range ai {
		v += (ai[k] - aj[k]) * (si[k] - sj[k])
	}
	return max(0, v)
}

// vector returns x in the form of package blas64.
func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// row returns row i of m.
func row(m blas64.General, i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }
