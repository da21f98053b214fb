package belief

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/stat/distuv"
)

var (
	choseA = idrl.Answer{Choice: idrl.ChoseA}
	choseB = idrl.Answer{Choice: idrl.ChoseB}
	equal  = idrl.Answer{Choice: idrl.Equal}
)

// Where u lies within [−1, 1] by six standard deviations, the exact update is that
// of (1 + yu)/2: the Gaussian's mean is the exact one, its variance the exact one
// on average over the answers, and for each answer at m = 0.
func TestBernoulliMatchesTheExactMoments(t *testing.T) {
	for _, test := range []struct{ m, v float64 }{{0, 0.02}, {0, 1. / 36}, {0.4, 0.01}, {-0.7, 0.0025}, {0.85, 1e-4}} {
		var average float64
		for y, a := range map[float64]idrl.Answer{1: choseA, -1: choseB} {
			name := fmt.Sprintf("%+v y=%v", test, y)
			z, mean, variance := moments(func(u float64) float64 { return (1 + y*u) / 2 }, test.m, test.v)
			logZ, d1, d2 := BernoulliLinear{}.LogZ(a, test.m, test.v)
			within(t, name+" Z", math.Exp(logZ), z, 1e-9) // the exact Z is clamped beyond six deviations
			within(t, name+" d1", d1, y/(1+y*test.m), 1e-12)
			within(t, name+" mean", test.m+test.v*d1, mean, 1e-12)
			average += z * variance
			if test.m == 0 {
				within(t, name+" variance", test.v+test.v*test.v*d2, variance, 1e-12)
			}
		}
		w := BernoulliLinear{}.Info(test.m, test.v)
		within(t, fmt.Sprintf("%+v average variance", test), test.v-test.v*test.v*w, average, 1e-12)
	}
}

// Anywhere, log Z is that of the clamped annotator, D does not fall below v + 1/4,
// and Info is what the update takes.
func TestBernoulliClamp(t *testing.T) {
	for _, m := range []float64{-3, -1, -0.4, 0, 0.9, 5} {
		for _, v := range []float64{1e-3, 0.04, 0.5, 9} {
			n := distuv.Normal{Mu: m, Sigma: math.Sqrt(v)}
			var sum float64
			for y, a := range map[float64]idrl.Answer{1: choseA, -1: choseB} {
				// in three pieces: the clamp has kinks
				density := func(u float64) float64 { return 0.5 * (1 + y*min(max(u, -1), 1)) * n.Prob(u) }
				lo, hi := m-12*n.Sigma, m+12*n.Sigma
				left, right := min(max(-1, lo), hi), max(min(1, hi), lo)
				z := integrate(density, lo, left) + integrate(density, left, right) + integrate(density, right, hi)
				logZ, _, d2 := BernoulliLinear{}.LogZ(a, m, v)
				within(t, fmt.Sprintf("Z of %v at m=%v v=%v", y, m, v), math.Exp(logZ), z, 1e-12)
				sum += math.Exp(logZ)
				if -d2 != (BernoulliLinear{}).Info(m, v) {
					t.Errorf("m=%v v=%v: κ = %v but info %v", m, v, -d2, BernoulliLinear{}.Info(m, v))
				}
			}
			within(t, "sum of Z", sum, 1, 1e-13)
			within(t, "D", 1/BernoulliLinear{}.Info(m, v), max(1-m*m, v+0.25), 1e-12)
		}
	}
	logZ, d1, d2 := BernoulliLinear{}.LogZ(equal, 0.5, 0.1)
	n := distuv.Normal{Mu: 0.5, Sigma: math.Sqrt(0.75)}
	within(t, "density of 'equal'", logZ, n.LogProb(0), 1e-14)
	within(t, "d1 of 'equal'", d1, -0.5/0.75, 1e-14)
	within(t, "d2 of 'equal'", d2, -1/0.75, 1e-14)
}

func TestBernoulliLimits(t *testing.T) {
	for _, test := range []struct{ m, v, want float64 }{
		{0.5, 0, math.Log(0.75)},
		{0, 0, -math.Ln2},
		{2, 0, 0},
		{-1, 0, math.Inf(-1)},
		// half of E[(u + 1)⁺] − E[(u − 1)⁺], with 50 digits
		{-7, 1, -23.272027055616036},
	} {
		got, d1, d2 := BernoulliLinear{}.LogZ(choseA, test.m, test.v)
		if got != test.want && math.Abs(got-test.want) > 1e-11 || !finite(d1, d2) {
			t.Errorf("%+v: log Z = %.17g, d1 %v, d2 %v", test, got, d1, d2)
		}
	}
	for _, m := range []float64{-1e6, -300, 300, 1e6} {
		for _, v := range []float64{1e-9, 1, 1e9} {
			if logZ, d1, d2 := (BernoulliLinear{}).LogZ(choseA, m, v); !finite(logZ, d1, d2) || logZ > 0 || 1+v*d2 <= 0 {
				t.Errorf("m=%v v=%v: log Z %v, d1 %v, d2 %v", m, v, logZ, d1, d2)
			}
		}
	}
}
