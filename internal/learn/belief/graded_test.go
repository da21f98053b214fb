package belief

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"

	"gonum.org/v1/gonum/stat/distuv"
)

var (
	muchA = idrl.Answer{Choice: idrl.ChoseA, Much: true}
	muchB = idrl.Answer{Choice: idrl.ChoseB, Much: true}
)

// gradedOutcomes are the answers of an annotator with two bands: by the distribution F
// of the noise, and not by what Graded computes.
func gradedOutcomes(f func(float64) float64, tie, much float64) []outcome {
	out := []outcome{
		{choseA, func(u float64) float64 { return f(u-tie) - f(u-much) }},
		{choseB, func(u float64) float64 { return f(-u-tie) - f(-u-much) }},
		{muchA, func(u float64) float64 { return f(u - much) }},
		{muchB, func(u float64) float64 { return f(-u - much) }},
	}
	if tie > 0 {
		out = append(out, outcome{equal, func(u float64) float64 { return f(tie-u) - f(-tie-u) }})
	}
	return out
}

func normalNoise(std float64) func(float64) float64 {
	return func(x float64) float64 { return distuv.UnitNormal.CDF(x / std) }
}

func logisticNoise(beta float64) func(float64) float64 {
	return func(x float64) float64 { return 1 / (1 + math.Exp(-beta*x)) }
}

// The update is moment matching, and the five answers add up to one.
func TestGradedByQuadrature(t *testing.T) {
	for _, test := range []struct{ s, tie, much, m, v float64 }{
		{1, 0.25, 2, 0, 1}, {1, 0.25, 2, 2.5, 9}, {0.25, 0.06, 0.5, -0.8, 1.7}, {0.5, 0, 1, 0.3, 0.01}, {2, 0.5, 0.6, -6, 4},
	} {
		name := fmt.Sprintf("%+v", test)
		p := Graded{Probit{test.s, test.tie}, test.much}
		byQuadrature(t, name+" probit", p, gradedOutcomes(normalNoise(test.s), test.tie, test.much), test.m, test.v)
		beta := slope / test.s
		b := Graded{BradleyTerry{beta, test.tie}, test.much}
		byQuadrature(t, name+" logistic", b, gradedOutcomes(logisticNoise(beta), test.tie, test.much), test.m, test.v)
		n := len(p.Replies())
		byQuadrature(t, name+" lapse", Lapse{p, 0.1, n}, lapsing(0.1, gradedOutcomes(normalNoise(test.s), test.tie, test.much)), test.m, test.v)
	}
}

// Derivatives by central differences, without uncertainty too, and where the answer is a
// surprise of many standard deviations.
func TestGradedDerivatives(t *testing.T) {
	for _, l := range []idrl.Likelihood{Graded{Probit{0.5, 0.1}, 1}, Graded{BradleyTerry{3, 0.1}, 1}, Lapse{Graded{Probit{0.5, 0.1}, 1}, 0.05, 5}} {
		for _, a := range idrl.Replies(l) {
			for _, m := range []float64{-7, -1, 0, 0.4, 5} {
				for _, v := range []float64{0, 0.2, 3} {
					const h = 1e-4
					_, d1, d2 := l.LogZ(a, m, v)
					up, up1, _ := l.LogZ(a, m+h, v)
					down, down1, _ := l.LogZ(a, m-h, v)
					name := fmt.Sprintf("%T %s %v at %v, %v", l, a.Choice, a.Much, m, v)
					within(t, name+" d1", (up-down)/(2*h), d1, 1e-6*(1+math.Abs(d1)))
					within(t, name+" d2", (up1-down1)/(2*h), d2, 1e-5*(1+math.Abs(d2)))
				}
			}
		}
	}
}

// Far from where an answer is probable, log Z follows its closed form: nothing cancels.
func TestGradedTails(t *testing.T) {
	g := Graded{Probit{1, 0.25}, 2}
	for _, m := range []float64{-40, -400} {
		// P(a) = Q(x) − Q(y) with x = 0.25 − m and y = 2 − m, of which Q(y) is nothing.
		x := 0.25 - m
		logZ, d1, d2 := g.LogZ(choseA, m, 0)
		within(t, "log Z", logZ, -x*x/2-halfLog2Pi-math.Log(x)+math.Log1p(-1/(x*x)+3/(x*x*x*x)), 1e-6)
		within(t, "d1", d1, x, 0.03)
		if !(d2 < 0 && d2 > -1) {
			t.Errorf("d2 = %v at %v, want it in (−1, 0)", d2, m)
		}
	}
}

// Nobody says much where its band is far away: what is left is the likelihood without it, to
// the bit. And wherever the band, a and much a together are what a is without.
func TestGradedWithoutMuch(t *testing.T) {
	for _, of := range []Banded{Probit{0.5, 0.1}, BradleyTerry{3, 0.1}} {
		for _, m := range []float64{-3, 0, 0.4, 2} {
			for _, a := range []idrl.Answer{choseA, choseB, equal} {
				never := Graded{of, math.Inf(1)}
				z, d1, d2 := never.LogZ(a, m, 1.3)
				if w, e1, e2 := of.LogZ(a, m, 1.3); z != w || d1 != e1 || d2 != e2 {
					t.Errorf("%T %s: %v %v %v, want %v %v %v", of, a.Choice, z, d1, d2, w, e1, e2)
				}
				g := Graded{of, 1}
				z, _, _ = g.LogZ(a, m, 1.3)
				sum := math.Exp(z)
				if a.Choice != idrl.Equal {
					a.Much = true
					z, _, _ = g.LogZ(a, m, 1.3)
					sum += math.Exp(z)
				}
				a.Much = false
				w, _, _ := of.LogZ(a, m, 1.3)
				within(t, fmt.Sprintf("%T %s", of, a.Choice), sum, math.Exp(w), 1e-12)
			}
			p, q := idrl.Predict(Graded{of, 1}, m, 1.3), idrl.Predict(of, m, 1.3)
			for k := range p {
				within(t, "prediction", p[k], q[k], 1e-12)
			}
		}
	}
}

// A second band never tells less, and no more than the difference itself; the default of
// sessions is within 5 % of the best width where the prior's standard deviation of u is one
// to three of the noise.
func TestInfoOfGraded(t *testing.T) {
	spec := settings.Complete(idrl.SessionSpec{Strength: true})
	for _, ratio := range []float64{1, 2, 3} {
		v := ratio * ratio * spec.NoiseStd * spec.NoiseStd
		p := Probit{NoiseStd: spec.NoiseStd, TieBand: spec.TieBand}
		plain, best := p.Info(0, v), 0.0
		for much := spec.TieBand * 1.01; much < 20*spec.NoiseStd; much *= 1.05 {
			w := Graded{p, much}.Info(0, v)
			if w < plain*(1-1e-12) || w > p.MostInfo(v) {
				t.Errorf("ratio %v, band %v: information %v, want it in [%v, %v]", ratio, much, w, plain, p.MostInfo(v))
			}
			best = max(best, w)
		}
		got := Graded{p, spec.MuchBand}.Info(0, v)
		t.Logf("ratio %v: %.3f without, %.3f with the default, %.3f at best", ratio, plain*v, got*v, best*v)
		if got < 0.95*best {
			t.Errorf("ratio %v: information %v of at best %v", ratio, got, best)
		}
	}
}

func TestRepliesOfLikelihoods(t *testing.T) {
	g := Graded{Probit{1, 0.25}, 2}
	for _, test := range []struct {
		of   idrl.Likelihood
		want int
	}{
		{Probit{1, 0.25}, 3},
		{g, 5},
		{Graded{Probit{1, 0}, 2}, 4},
		{Lapse{g, 0.1, 5}, 5},
		{Lapse{Probit{1, 0}, 0.1, 2}, 2},
	} {
		got := idrl.Replies(test.of)
		if len(got) != test.want {
			t.Errorf("%T: %d replies, want %d", test.of, len(got), test.want)
		}
		if slices.ContainsFunc(got, func(a idrl.Answer) bool { return a.Much && !(a.Choice == idrl.ChoseA || a.Choice == idrl.ChoseB) }) {
			t.Errorf("%T: much more of what is no choice", test.of)
		}
	}
}
