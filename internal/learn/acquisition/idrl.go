package acquisition

import "gonum.org/v1/gonum/floats"

// IDRL is Information Directed Reward Learning (the paper, section 4). Step 1
// takes the two candidates whose difference of returns is least certain,
//
//	(i, j) = argmax δᵀΣδ,  δ = μ_i − μ_j,
//
// and step 2 values a query by the information its answer is expected to give
// about that difference. The posterior variance of θ·δ after the answer is
// expected to be δᵀΣδ − (δᵀΣx)² w with w = Likelihood.Info, whatever the kind of
// answer, so the value is
//
//	(δᵀΣx)² w,
//
// the expected reduction of the variance. It orders the queries as the information
// −½ log(1 − (δᵀΣx)² w / δᵀΣδ) does, which is the paper's objective if the answer's
// noise is Gaussian. Source: docs/methods.md, section 1.1.
type IDRL struct {
	// Paper computes as the authors' code: the covariance includes observation noise
	// (Input.Noise), the first of equal pairs is taken, and the value is minus the variance
	// that remains, whose rounding decides which queries tie. Source: docs/paper-code.md,
	// section 3.
	Paper bool
}

var _ Function = IDRL{}

// Score implements Function. With fewer than two candidates, or if no two of
// them can differ, every value is 0.
func (f IDRL) Score(dst []float64, in *Input) (Pair, error) {
	t := in.Table
	t.clear(dst)
	var p Pair
	if f.Paper {
		p = t.widest(in.Candidates, in.Noise, nil)
	} else {
		p = t.widest(in.Candidates, nil, in.Rand)
	}
	if !(p.Var > 0) {
		return p, nil
	}
	t.expectedReduction(dst, t.delta(p.First, p.Second), in.best && !f.Paper)
	if f.Paper {
		floats.AddConst(-p.Var, dst)
	}
	return p, nil
}

// expectedReduction stores (δᵀΣx_q)² w_q in dst, length Q: the expected reduction of the
// variance of θ·δ by the answer to each query. best is that of weigh.
func (t *Table) expectedReduction(dst, delta []float64, best bool) {
	t.Cov(dst, delta)
	floats.Mul(dst, dst)
	t.weigh(dst, best)
}
