package acquisition

import (
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// MR is the maximum regret (Wilde et al. 2020) of a comparison of the whole
// trajectories of two policies i and j of Input.Pool, each of which is optimal
// for a reward r_i with weights Theta:
//
//	p_i p_j (R(r_i, r_j) + R(r_j, r_i)),  R(r_i, r_j) = max(0, G_j(π_j) − G_j(π_i)),
//
// where G_j is the return under r_j, and p_i is the density of r_i under N(μ, Σ), relative
// to that of the most probable reward of the pool. The maximum with 0 has an effect only if
// π_j is not optimal for r_j. Source: the paper, appendix "Maximum regret";
// docs/paper-code.md, section 4.
type MR struct {
	// Simple makes p_i that of Wilde et al.: a uniform prior, times Accuracy for
	// every preference in Input.History that agrees with the order of the two
	// clips under r_i, and 1 − Accuracy for every one that does not.
	Simple bool

	// Accuracy is the probability in (0.5, 1] of an answer that agrees with the
	// true reward, for Simple; 0 means 0.9.
	Accuracy float64
}

var _ Function = MR{}

// Score implements Function. It returns an error of kind Invalid if a query does
// not compare two policies of the pool.
func (f MR) Score(dst []float64, in *Input) (Pair, error) {
	in.Table.clear(dst)
	pairs, err := in.pairs()
	if err != nil || len(pairs) == 0 {
		return noPair(), err
	}
	for _, c := range in.Pool {
		if len(c.Theta) != in.Table.belief.Dim() {
			return noPair(), idrl.Errorf(idrl.Invalid, "maximum regret needs the reward that each policy of the pool is optimal for; policy %s has none", c.ID)
		}
	}
	weights := stack(in.Pool, func(c idrl.Candidate) []float64 { return c.Theta })
	mus := stack(in.Pool, func(c idrl.Candidate) []float64 { return c.Mu })
	var logs []float64
	if f.Simple {
		logs = f.agreement(weights, in.History)
	} else {
		logs = logDensities(in.Table.belief, weights)
	}
	p := relative(logs)
	returns := matrix(len(in.Pool), len(in.Pool)) // of policy j under reward i
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, weights, mus, 0, returns)
	regret := func(i, j int) float64 { // of π_i under r_j
		under := row(returns, j)
		return max(0, under[j]-under[i])
	}
	for q, pair := range pairs {
		i, j := pair[0], pair[1]
		dst[q] = p[i] * p[j] * (regret(i, j) + regret(j, i))
	}
	return noPair(), nil
}

// pairs returns the indexes in the pool of the two policies that every query
// compares. Of policies that share a clip it takes the first.
func (in *Input) pairs() ([][2]int, error) {
	index := make(map[idrl.ClipID]int, len(in.Pool))
	for i, c := range in.Pool {
		if _, known := index[c.Clip]; !known {
			index[c.Clip] = i
		}
	}
	out := make([][2]int, len(in.Table.queries))
	for q, query := range in.Table.queries {
		if len(query.Clips) != 2 {
			return nil, idrl.Errorf(idrl.Invalid, "query %s does not compare two policies", query.ID)
		}
		for side, clip := range query.Clips {
			i, known := index[clip]
			if !known {
				return nil, idrl.Errorf(idrl.Invalid, "query %s does not compare two policies of the pool: clip %s shows none of them", query.ID, clip)
			}
			out[q][side] = i
		}
	}
	return out, nil
}

// stack returns one vector of every policy of a pool, one per row.
func stack(pool []idrl.Candidate, of func(idrl.Candidate) []float64) blas64.General {
	out := matrix(len(pool), len(of(pool[0])))
	for i, c := range pool {
		copy(row(out, i), of(c))
	}
	return out
}

// agreement returns the log probability of every reward in the model of Wilde et al., up to
// a constant. Answers 'equal' do not count. Source: the paper, equation of appendix
// "Maximum regret".
func (f MR) agreement(weights blas64.General, history []Asked) []float64 {
	right := f.Accuracy
	if right == 0 {
		right = 0.9
	}
	logs := make([]float64, weights.Rows)
	for _, h := range history {
		if h.Answer.Choice != idrl.ChoseA && h.Answer.Choice != idrl.ChoseB {
			continue
		}
		for i := range logs {
			better := floats.Dot(row(weights, i), h.Query.X) > 0
			if better == (h.Answer.Choice == idrl.ChoseA) {
				logs[i] += math.Log(right)
			} else {
				logs[i] += math.Log(1 - right)
			}
		}
	}
	return logs
}

// logDensities returns the log density of every row of weights under the belief,
// up to a constant: −½ (r − μ)ᵀ Σ⁻¹ (r − μ).
func logDensities(p idrl.Posterior, weights blas64.General) []float64 {
	factor := cholesky(p)
	mean := p.Mean(nil)
	logs := make([]float64, weights.Rows)
	z := make([]float64, len(mean))
	for i := range logs {
		floats.SubTo(z, row(weights, i), mean)
		blas64.Trsv(blas.NoTrans, factor, vector(z))
		logs[i] = -0.5 * floats.Dot(z, z)
	}
	return logs
}

// cholesky returns L with LLᵀ = Σ. If Σ is not positive definite because of rounding, it
// adds the smallest jitter of 1e-12, 1e-10, … times the mean variance with which it is.
func cholesky(p idrl.Posterior) blas64.Triangular {
	d := p.Dim()
	cov := mat.NewSymDense(d, nil)
	unit, image := make([]float64, d), make([]float64, d)
	for i := range d {
		unit[i] = 1
		p.CovMul(image, unit)
		unit[i] = 0
		for j := range i + 1 {
			cov.SetSym(i, j, image[j])
		}
	}
	var c mat.Cholesky
	jitter := 1e-12 * max(mat.Trace(cov)/float64(d), math.SmallestNonzeroFloat64/1e-12)
	for !c.Factorize(cov) {
		for i := range d {
			cov.SetSym(i, i, cov.At(i, i)+jitter)
		}
		jitter *= 100
	}
	var l mat.TriDense
	c.LTo(&l)
	return l.RawTriangular()
}

// relative returns exp(log − the largest log), or 1 for all if every log is −∞.
func relative(logs []float64) []float64 {
	most := floats.Max(logs)
	out := make([]float64, len(logs))
	for i, l := range logs {
		out[i] = 1
		if !math.IsInf(most, -1) {
			out[i] = math.Exp(l - most)
		}
	}
	return out
}
