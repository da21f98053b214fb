package belief_test

import (
	"fmt"
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
)

// A person prefers the clip that has one step more of feature 1 and one less of
// feature 2. Both weights move, in opposite directions, and the belief says how
// likely the same answer is now.
func Example() {
	model := belief.Model{
		Start:      belief.Isotropic(2, 1),
		Comparison: belief.Probit{NoiseStd: 0.5, TieBand: 0.1},
	}
	q := idrl.ComparisonVector(
		idrl.Clip{ID: "a", Steps: 5, Phi: []float64{3, 2}},
		idrl.Clip{ID: "b", Steps: 5, Phi: []float64{2, 3}},
	)
	likelihood := model.Likelihood(q.Query)
	report := func(p idrl.Posterior) {
		mean := p.Mean(nil)
		m, v := idrl.Moments(p, q.X, mean, make([]float64, p.Dim()))
		logZ, _, _ := likelihood.LogZ(idrl.Answer{Choice: idrl.ChoseA}, m, v)
		fmt.Printf("E[θ] = %.2f, P(a) = %.2f\n", mean, math.Exp(logZ))
	}
	before := model.Prior()
	report(before)
	after, err := model.Condition(before, q, idrl.Answer{Choice: idrl.ChoseA})
	if err != nil {
		fmt.Println(err)
		return
	}
	report(after)
	// Output:
	// E[θ] = [0.00 0.00], P(a) = 0.47
	// E[θ] = [0.56 -0.56], P(a) = 0.84
}

// An observation y = θ·x + ε of a weight with prior N(0, 1) and noise of variance 1
// halves the variance and moves the mean half way.
func ExampleGaussian_ConditionOnValue() {
	prior := belief.Isotropic(2, 1)
	post := prior.ConditionOnValue([]float64{1, 0}, 3, 1)
	work := make([]float64, 2)
	post.CovMul(work, []float64{1, 0})
	fmt.Printf("mean %.1f, variance of the first weight %.1f\n", post.Mean(nil), work[0])
	// Output:
	// mean [1.5 0.0], variance of the first weight 0.5
}
