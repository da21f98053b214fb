package acquisition

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/idrl"
)

// Directions returns the vectors √p_j Σ(μ_j − μ_L) of the policies that may be better than the leader L, one per row of
// length d, the one with the largest p_j Var(G_j − G_L) first. The squares of their products with x_q add up to LVAR's value
// of query q without its factor w_q. p_j is as in LVAR, by draws from stream. There is no row if the leader is the best
// under every draw, or if there are fewer than two policies.
func Directions(p idrl.Posterior, policies []idrl.Candidate, stream *rand.Rand) blas64.General {
	if len(policies) < 2 {
		return blas64.General{Cols: p.Dim(), Stride: p.Dim()}
	}
	t := NewTable(nil, p, nil)
	t.SetPolicies(policies)
	leader, share := t.plausible(stream)
	share[leader] = 0
	order := make([]int, 0, len(share))
	for j, s := range share {
		if s > 0 {
			order = append(order, j)
		}
	}
	part := func(j int) float64 { return share[j] * t.spread(j, leader) }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(part(j), part(i)) })
	out := matrix(len(order), p.Dim())
	for k, j := range order {
		p.CovMul(row(out, k), t.delta(j, leader))
		floats.Scale(math.Sqrt(share[j]), row(out, k))
	}
	return out
}
