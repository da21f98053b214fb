package acquisition

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// LVAR compares the leader with all policies that may be the best, each by its
// plausibility:
//
//	w_q Σ_j p_j (g_jq − g_Lq)²,
//
// the expected reduction of Σ_j p_j Var(G_j − G_L), where p_j is the share of 256
// draws of the reward under which policy j of the table is the best. If the leader is the
// best under every draw, the values are those of TT. Select names
// the leader and the policy whose term p_j w_q (g_jq − g_Lq)² is the largest.
// Source: docs/methods.md, section 1.3.
type LVAR struct{}

var _ Function = LVAR{}

// Score implements Function. It draws from in.Rand.
func (LVAR) Score(dst []float64, in *Input) (Pair, error) {
	t := in.Table
	t.clear(dst)
	if len(t.policies) < 2 {
		return noPair(), nil
	}
	leader, share := t.plausible(in.Rand)
	chances := slices.Clone(share)
	if share[leader] == 1 {
		p, err := TT{}.Score(dst, in)
		p.chances = chances
		return p, err
	}
	share[leader] = 0
	weighted := t.weighted(share, leader)
	t.eachCov(weighted, func(first int, cov blas64.General) {
		for k := range cov.Rows {
			for i, c := range row(cov, k) {
				dst[first+i] += c * c
			}
		}
	})
	t.weigh(dst, in.best)
	p := t.heaviest(share, leader)
	p.chances = chances
	return p, nil
}

// plausible returns the leader and p_j of every policy, by draws from stream. There must be a policy.
func (t *Table) plausible(stream *rand.Rand) (leader int, share []float64) {
	best := make([]int, samples)
	returns := t.DrawReturns(samples, stream)
	for i := range best {
		best[i] = first(row(returns, i))
	}
	return t.Leader(), shares(best, len(t.policies))
}

// first returns the index of the greatest number, the first of equals.
func first(of []float64) (at int) {
	most := of[0]
	for j, v := range of {
		if v > most {
			at, most = j, v
		}
	}
	return at
}

// heaviest returns the pair of the leader and the policy with the largest p_j Var(G_j − G_L).
func (t *Table) heaviest(share []float64, leader int) Pair {
	best, most := noPair(), 0.0
	for j, p := range share {
		if v := t.spread(j, leader); p*v > most {
			best, most = Pair{First: leader, Second: j, Var: v, share: share}, p*v
		}
	}
	return best
}

// weighted returns √p_j (μ_j − μ_L) of the policies with p_j > 0, one per row, valid until the next
// call.
func (t *Table) weighted(share []float64, leader int) blas64.General {
	out := matrixIn(t.deltas, floats.Count(func(p float64) bool { return p > 0 }, share), t.belief.Dim())
	t.deltas = out.Data
	k := 0
	for j, p := range share {
		if p > 0 {
			floats.ScaleTo(row(out, k), math.Sqrt(p), t.delta(j, leader))
			k++
		}
	}
	return out
}
