package acquisition_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/mat"
)

// The paper's proposition on transductive linear bandits: with a prior N(0, α⁻¹I),
// α → 0, and noise σ² the objectives of IDRL's two steps are σ² times
//
//	‖f_i − f_j‖² under A_D⁻¹,       A_D = Σ_i N_i x_i x_iᵀ, maximised over i, j
//	‖f_1 − f_2‖² under A_{D,q}⁻¹,   A_{D,q} = A_D + x_q x_qᵀ, minimised over q.
//
// In the eigenbasis of A the variance is σ² Σ δ_k²/(λ_k + ασ²), so that it falls
// short of the norm by a share of at most ασ²/λ_min, which is the tolerance, and by
// rounding, which is that of numbers as large as the prior's variance.
func TestTransductiveBanditLimit(t *testing.T) {
	const d, noise, rounding = 4, 0.25, 1e-14
	stream := rng.New(50, "bandit", 0)
	g := random(d, 8, 25, idrl.RateClip, stream)
	asked := append([]int{0, 1, 2, 3, 4}, 0, 0, 7, 3, 12) // some more than once
	a := mat.NewSymDense(d, nil)
	for _, q := range asked {
		a.SymRankOne(a, 1, mat.NewVecDense(d, g.Queries[q].X))
	}
	norm := func(a mat.Symmetric, i, j int) float64 {
		var c mat.Cholesky
		if !c.Factorize(a) {
			t.Fatal("the design is singular")
		}
		delta := mat.NewVecDense(d, difference(g, i, j))
		var solved mat.VecDense
		must.Do(t, c.SolveVecTo(&solved, delta))
		return mat.Dot(delta, &solved)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(a, false) {
		t.Fatal("no eigenvalues")
	}
	least := eigen.Values(nil)[0]
	first, second := 0, 1
	for i := range g.Candidates {
		for j := i + 1; j < len(g.Candidates); j++ {
			if norm(a, i, j) > norm(a, first, second) {
				first, second = i, j
			}
		}
	}
	for _, priorVar := range []float64{1e2, 1e4, 1e6, 1e8} {
		short := noise/priorVar/least + rounding*priorVar
		p := belief.Isotropic(d, priorVar)
		for _, q := range asked {
			p = p.ConditionOnValue(g.Queries[q].X, stream.NormFloat64(), noise) // whatever the answers are
		}
		m := belief.Model{Start: p, Rating: belief.Rating{NoiseVar: noise}}
		scores, pair := scorePair(t, acquisition.IDRL{}, input(m, p, g, nil))
		for i := range g.Candidates {
			for j := range i {
				want := noise * norm(a, i, j)
				within(t, "first objective", variance(p, difference(g, i, j)), want, short*want)
			}
		}
		best, most := 0, math.Inf(1)
		for q, query := range g.Queries {
			var with mat.SymDense
			with.SymRankOne(a, 1, mat.NewVecDense(d, query.X))
			want := noise * norm(&with, pair.First, pair.Second)
			within(t, "second objective", pair.Var-scores[q], want, short*noise*norm(a, pair.First, pair.Second))
			if want < most {
				best, most = q, want
			}
		}
		s := choose(t, acquisition.IDRL{}, input(m, p, g, nil))
		if priorVar >= 1e4 && (s.First != first || s.Second != second || s.Query != best) {
			t.Errorf("prior variance %g: selected %+v, want the pair %d, %d and query %d of the limit", priorVar, s, first, second, best)
		}
	}
}
