package belief

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/stat/distuv"
)

// lapsing mixes outcomes with a uniform choice among them.
func lapsing(rate float64, of []outcome) []outcome {
	out := make([]outcome, len(of))
	for i, o := range of {
		out[i] = outcome{o.answer, func(u float64) float64 { return rate/float64(len(of)) + (1-rate)*o.given(u) }}
	}
	return out
}

func TestLapseByQuadrature(t *testing.T) {
	p, b := Probit{NoiseStd: 0.5, TieBand: 0.2}, BradleyTerry{Beta: 2}
	for _, test := range []struct{ rate, m, v float64 }{{0, 0.3, 1}, {0.05, 0.3, 1}, {0.2, -2.4, 0.5}, {0.9, 1, 2}} {
		name := fmt.Sprintf("%+v", test)
		byQuadrature(t, name+" probit", Lapse{p, test.rate, 3}, lapsing(test.rate, probitOutcomes(p)), test.m, test.v)
		byQuadrature(t, name+" logistic", Lapse{b, test.rate, 2}, lapsing(test.rate, logisticOutcomes(b)), test.m, test.v)
	}
}

// Source: docs/methods.md, section 2.1, row lapse, for two outcomes.
func TestLapseClosedForm(t *testing.T) {
	const rate, s, m, v = 0.1, 0.8, 0.4, 1.5
	r := math.Sqrt(s*s + v)
	z := rate/2 + (1-rate)*distuv.UnitNormal.CDF(m/r)
	alpha := (1 - rate) * distuv.UnitNormal.Prob(m/r) / (r * z)
	logZ, d1, d2 := Lapse{Probit{NoiseStd: s}, rate, 2}.LogZ(choseA, m, v)
	within(t, "log Z", logZ, math.Log(z), 1e-13)
	within(t, "d1", d1, alpha, 1e-13)
	within(t, "d2", d2, -(alpha*alpha + alpha*m/(r*r)), 1e-13)
}

// A rating: the density of y has a part that is even on the scale.
func TestLapseOfRating(t *testing.T) {
	for _, test := range []struct{ rate, noise, m, v float64 }{
		{0, 0.05, 0.3, 0.2}, {0.1, 0.05, 0.3, 0.2}, {0.1, 0.001, -0.9, 1e-3}, {0.5, 1, 1.4, 2}, {0.05, 0.01, 8, 0.01},
	} {
		l := Lapse{Rating{test.noise}, test.rate, 0}
		n := distuv.Normal{Mu: test.m, Sigma: math.Sqrt(test.v + test.noise)}
		// A lapse off the scale does not happen, and the answer neither.
		meant := func(y float64) float64 {
			if math.Abs(y) > 1 {
				return 1
			}
			return (1 - test.rate) * n.Prob(y) / (test.rate/2 + (1-test.rate)*n.Prob(y))
		}
		density := func(y float64) float64 { return (1 - test.rate) * n.Prob(y) / meant(y) }
		square := func(y float64) float64 {
			d1 := meant(y) * (y - test.m) / (test.v + test.noise)
			if n.Prob(y) == 0 {
				return 0
			}
			return density(y) * d1 * d1
		}
		var w float64
		far := 12 * n.Sigma
		for _, span := range [][2]float64{{min(-1, test.m-far), -1}, {-1, 1}, {1, max(1, test.m+far)}} {
			w += integrate(square, span[0], span[1])
		}
		name := fmt.Sprintf("%+v", test)
		within(t, name+" info", l.Info(test.m, test.v), w, 1e-9*w)
		const y = 0.25
		logZ, d1, _ := l.LogZ(rate(y), test.m, test.v)
		within(t, name+" log Z", logZ, math.Log(test.rate/2+(1-test.rate)*n.Prob(y)), 1e-12)
		within(t, name+" d1", d1, meant(y)*(y-test.m)/(test.v+test.noise), 1e-11*(1+math.Abs(d1)))
	}
}

// A rating whose scale ends: two points and a density between them.
func TestLapseOfClippedRating(t *testing.T) {
	for _, test := range []struct{ rate, noise, m, v float64 }{
		{0, 0.05, 0.3, 0.2}, {0.1, 0.05, 0.3, 0.2}, {0.1, 0.001, -0.9, 1e-3}, {0.5, 1, 1.4, 2}, {0.05, 0.01, 8, 0.01},
	} {
		name := fmt.Sprintf("%+v", test)
		l := Lapse{RatingClipped{test.noise}, test.rate, 0}
		of := func(y, m float64) float64 { logZ, _, _ := l.LogZ(rate(y), m, test.v); return logZ }
		square := func(y float64) float64 {
			logZ, d1, _ := l.LogZ(rate(y), test.m, test.v)
			return math.Exp(logZ) * d1 * d1
		}
		total := math.Exp(of(-1, test.m)) + math.Exp(of(1, test.m)) + integrate(func(y float64) float64 { return math.Exp(of(y, test.m)) }, -1, 1)
		within(t, name+" total", total, 1, 1e-9)
		w := square(-1) + square(1) + integrate(square, -1, 1)
		within(t, name+" info", l.Info(test.m, test.v), w, 1e-9*(1+w))
		for _, y := range []float64{-1, -0.5, 0.25, 1} {
			const h = 1e-5
			_, d1, d2 := l.LogZ(rate(y), test.m, test.v)
			_, above, _ := l.LogZ(rate(y), test.m+h, test.v)
			_, below, _ := l.LogZ(rate(y), test.m-h, test.v)
			within(t, fmt.Sprint(name, " d1 at ", y), d1, (of(y, test.m+h)-of(y, test.m-h))/(2*h), 1e-4*(1+math.Abs(d1)))
			within(t, fmt.Sprint(name, " d2 at ", y), d2, (above-below)/(2*h), 1e-4*(1+math.Abs(d2)))
		}
	}
}

// An answer that the belief calls next to impossible is taken for a lapse: it
// leaves the mean nearly where it was. One in between widens the belief.
func TestLapseForgives(t *testing.T) {
	m := Model{Start: Isotropic(1, 1), Comparison: Probit{NoiseStd: 0.5, TieBand: 0.1}}
	forgiving := Model{Start: m.Start, Comparison: Lapse{m.Comparison, 0.1, 3}}
	sure := Isotropic(1, 1).ConditionOnValue([]float64{1}, 4, 0.05)
	hard := must.Get(m.Condition(sure, comparison(1), choseB))(t)
	soft := must.Get(forgiving.Condition(sure, comparison(1), choseB))(t)
	if was := sure.mean[0]; was-hard.Mean(nil)[0] < 0.25 || was-soft.Mean(nil)[0] > 0.01 {
		t.Errorf("mean %v, after the answer %v, forgiving %v", was, hard.Mean(nil), soft.Mean(nil))
	}
	unsure := Isotropic(1, 1).ConditionOnValue([]float64{1}, 1.6, 0.2)
	wide := must.Get(forgiving.Condition(unsure, comparison(1), choseB))(t)
	if got := wide.(*Gaussian).cov[0]; got <= unsure.cov[0] {
		t.Errorf("variance %v after a surprise, want more than %v", got, unsure.cov[0])
	}
}

func TestLapseValidate(t *testing.T) {
	for _, l := range []Lapse{{Probit{1, 1}, 0, 3}, {BernoulliLinear{}, 0.5, 2}, {Rating{1}, 0.1, 0}, {RatingClipped{1}, 0.1, 0}} {
		if err := l.Validate(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
	for _, test := range []struct {
		l    Lapse
		want string
	}{
		{Lapse{nil, 0.1, 3}, "without"},
		{Lapse{Probit{1, 1}, 1, 3}, "below 1"},
		{Lapse{Probit{1, 1}, math.NaN(), 3}, "below 1"},
		{Lapse{Probit{1, 1}, 0.1, 4}, "outcomes"},
	} {
		if err := test.l.Validate(); idrl.KindOf(err) != idrl.Invalid || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want one of kind Invalid with %q", test.l, err, test.want)
		}
	}
}
