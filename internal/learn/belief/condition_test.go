package belief

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// n rank-one updates, in any order, are one linear regression:
// Σ' = (Σ⁻¹ + XᵀX/s²)⁻¹, μ' = Σ'(Σ⁻¹μ + Xᵀy/s²).
func TestUpdateEqualsBatch(t *testing.T) {
	for _, test := range []struct{ d, n int }{{1, 1}, {1, 20}, {5, 3}, {11, 40}, {39, 100}} {
		stream := rng.New(2, "batch", uint64(100*test.d+test.n))
		start := correlated(t, test.d, stream)
		const noise = 0.3
		x := mat.NewDense(test.n, test.d, normals(test.n*test.d, stream))
		y := normals(test.n, stream)
		mean, cov := regression(t, start, x, y, noise)
		for range 3 {
			g := start
			for _, k := range stream.Perm(test.n) {
				g = g.ConditionOnValue(x.RawRowView(k), y[k], noise)
			}
			if !floats.EqualApprox(g.mean, mean, 1e-9) || !floats.EqualApprox(g.cov, cov, 1e-10) {
				t.Errorf("d=%d n=%d: updates one by one differ from the regression", test.d, test.n)
			}
		}
	}
}

// regression returns the posterior of Bayesian linear regression.
func regression(t *testing.T, g *Gaussian, x *mat.Dense, y []float64, noise float64) (mean, cov []float64) {
	t.Helper()
	f := newInformation(t, g)
	for i, yi := range y {
		f.add(x.RawRowView(i), 1/noise, yi/noise)
	}
	return f.moments(t)
}

// information is a Gaussian in the form exp(h·θ − θ·Λθ/2): the factors of the answers
// are added up, and one inverse is taken in the end.
type information struct {
	lambda mat.Dense
	h      mat.VecDense
}

func newInformation(t *testing.T, g *Gaussian) *information {
	t.Helper()
	var f information
	must.Do(t, f.lambda.Inverse(covariance(g)))
	f.h.MulVec(&f.lambda, mat.NewVecDense(g.Dim(), g.Mean(nil)))
	return &f
}

// add multiplies by exp(ν u − τ u²/2), u = θ·x.
func (f *information) add(x []float64, tau, nu float64) {
	v := mat.NewVecDense(len(x), x)
	f.lambda.RankOne(&f.lambda, tau, v, v)
	f.h.AddScaledVec(&f.h, nu, v)
}

func (f *information) moments(t *testing.T) (mean, cov []float64) {
	t.Helper()
	var inverse mat.Dense
	must.Do(t, inverse.Inverse(&f.lambda))
	var mu mat.VecDense
	mu.MulVec(&inverse, &f.h)
	return mu.RawVector().Data, inverse.RawMatrix().Data
}

func TestObserveLeavesTheBelief(t *testing.T) {
	g := correlated(t, 4, rng.New(3, "test", 0))
	before, _ := g.MarshalBinary()
	g.Condition([]float64{1, 2, 3, 4}, 0.7, 1e9) // κ beyond 1/v is cut
	after, _ := g.MarshalBinary()
	if string(before) != string(after) {
		t.Error("Condition changed its receiver")
	}
	x := []float64{1, 0, 0, 0}
	if _, v := g.Condition(x, 0, 1e9).moments(x); v > 1e-12 {
		t.Errorf("variance after a perfect observation = %v, want 0", v)
	}
	if same := g.Condition(x, 0, 0); !floats.Equal(same.mean, g.mean) || !floats.Equal(same.cov, g.cov) {
		t.Error("an observation without information changed the belief")
	}
}

// After 10,000 updates by answers of every kind the covariance is symmetric to the
// last bit, positive semi-definite, and that of a fit from scratch: the product of
// the prior and the Gaussian factors that the updates stand for.
func TestTenThousandUpdates(t *testing.T) {
	const n = 10_000
	likelihoods := []idrl.Likelihood{
		PlusMinus{PaperNoiseVar}, Probit{0.2, 0.05}, PlusMinus{0.01}, BradleyTerry{8, 0.05}, BernoulliLinear{}, Lapse{Probit{0.5, 0.1}, 0.05, 3},
	}
	choices := []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}
	for _, d := range []int{1, 11, 39} {
		stream := rng.New(4, "many", uint64(d))
		truth := normals(d, stream)
		floats.Scale(0.5/floats.Norm(truth, 2), truth)
		for _, test := range []struct {
			name string
			of   []idrl.Likelihood
		}{{"gaussian", []idrl.Likelihood{PlusMinus{0.01}}}, {"mixed", likelihoods}} {
			g := correlated(t, d, stream)
			f := newInformation(t, g)
			for k := range n {
				x := normals(d, stream)
				a := idrl.Answer{Choice: choices[stream.IntN(3)]}
				if u := floats.Dot(x, truth); math.Abs(u) > 0.3 {
					a = perfect(comparison(x...), truth)
				}
				m, v := g.moments(x)
				_, d1, d2 := test.of[k%len(test.of)].LogZ(a, m, v)
				g = g.Condition(x, d1, -d2)
				f.add(x, -d2/(1+v*d2), (d1-m*d2)/(1+v*d2))
			}
			name := fmt.Sprintf("%s d=%d", test.name, d)
			mean, cov := f.moments(t)
			if !floats.EqualApprox(g.mean, mean, 1e-9) || !floats.EqualApprox(g.cov, cov, 1e-9*floats.Max(g.cov)) {
				t.Errorf("%s: 10,000 updates differ from one fit", name)
			}
			sound(t, name, g)
		}
	}
}

// One question answered a thousand times: the variance of its u becomes 1/(1/v +
// 1000/noise), and no other direction is harmed.
func TestDuplicates(t *testing.T) {
	const d, n, noise = 11, 1000, 0.01
	stream := rng.New(6, "duplicates", 0)
	start := correlated(t, d, stream)
	x := normals(d, stream)
	m, v := start.moments(x)
	g, h := start, start
	p := Probit{NoiseStd: 0.2, TieBand: 0.05}
	for range n {
		g = g.ConditionOnValue(x, 0.5, noise)
		hm, hv := h.moments(x)
		_, d1, d2 := p.LogZ(choseA, hm, hv)
		h = h.Condition(x, d1, -d2)
	}
	gm, gv := g.moments(x)
	want := 1 / (1/v + n/noise)
	within(t, "variance", gv, want, 1e-9*want)
	within(t, "mean", gm, want*(m/v+0.5*n/noise), 1e-12)
	once := start.ConditionOnValue(x, 0.5, noise/n) // what they amount to
	if !floats.EqualApprox(g.mean, once.mean, 1e-12) || !floats.EqualApprox(g.cov, once.cov, 1e-12) {
		t.Error("a thousand times one answer is not one of a thousandth of the noise")
	}
	sound(t, "gaussian", g)
	sound(t, "probit", h)
}

// A question that speaks of nothing leaves the belief as it was, to the bit.
func TestZeroFeatures(t *testing.T) {
	g := correlated(t, 3, rng.New(7, "zero", 0)).Condition([]float64{1, 2, 3}, 0.1, 0.01)
	before := encode(t, g)
	for _, l := range []idrl.Likelihood{Probit{0.5, 0.1}, PlusMinus{0.25}, BradleyTerry{2, 0.1}, BernoulliLinear{}, Lapse{Probit{0.5, 0.1}, 0.1, 3}} {
		m := Model{Start: g, Comparison: l, Rating: Rating{0.05}}
		for _, a := range []idrl.Answer{choseA, choseB, equal} {
			p, err := m.Condition(g, comparison(0, 0, 0), a)
			if err != nil || !bytes.Equal(encode(t, p.(*Gaussian)), before) {
				t.Errorf("%T, %s: the belief changed; error %v", l, a.Choice, err)
			}
		}
		p, err := m.Condition(g, rating(0, 0, 0), rate(0.7))
		if err != nil || !bytes.Equal(encode(t, p.(*Gaussian)), before) {
			t.Errorf("rating: the belief changed; error %v", err)
		}
	}
}

func TestConditionOnValue(t *testing.T) {
	g := Isotropic(1, 2).ConditionOnValue([]float64{3}, 1.5, 0.001)
	within(t, "mean", g.mean[0], 2*3*1.5/(2*9+0.001), 1e-14)
	within(t, "variance", g.cov[0], 2*0.001/(2*9+0.001), 1e-14)
	for _, f := range []func(){
		func() { Isotropic(1, 1).ConditionOnValue([]float64{1}, math.NaN(), 1) },
		func() { Isotropic(1, 1).ConditionOnValue([]float64{1}, 0, -0.1) },
		func() { Isotropic(1, 1).ConditionOnValue([]float64{0}, 0, 0) },
		func() { Isotropic(1, 1).ConditionOnValue([]float64{1, 1}, 0, 1) },
	} {
		if !panics(f) {
			t.Error("a caller's mistake passed")
		}
	}
}

// sound checks that the numbers of g are finite and Σ is symmetric and positive
// semi-definite.
func sound(t *testing.T, name string, g *Gaussian) {
	t.Helper()
	d := g.Dim()
	for i := range d {
		for j := range i {
			if g.cov[i*d+j] != g.cov[j*d+i] {
				t.Fatalf("%s: Σ is not symmetric", name)
			}
		}
	}
	var e mat.EigenSym
	if !finite(g.mean...) || !finite(g.cov...) || !e.Factorize(covariance(g), false) {
		t.Fatalf("%s: not finite", name)
	}
	values := e.Values(nil)
	if floats.Min(values) < -1e-14*floats.Max(values) {
		t.Errorf("%s: eigenvalues %v", name, values)
	}
}

// Answers with next to no noise, down to what ForSpec lets pass: the covariance
// shrinks by twelve orders of magnitude and stays sound.
func TestNearlyNoiselessUpdates(t *testing.T) {
	stream := rng.New(5, "noiseless", 0)
	truth := normals(6, stream)
	g := Isotropic(6, 1)
	for range 1000 {
		x := normals(6, stream)
		g = g.ConditionOnValue(x, floats.Dot(truth, x), leastNoise)
	}
	sound(t, "nearly noiseless", g)
	if !floats.EqualApprox(g.mean, truth, 1e-6) {
		t.Errorf("mean %v, want the truth %v", g.mean, truth)
	}
}

// Noise below rounding, which ForSpec refuses: nothing overflows.
func TestNoiseBelowRounding(t *testing.T) {
	stream := rng.New(5, "rounding", 0)
	g := Isotropic(6, 1)
	for range 1000 {
		x := normals(6, stream)
		_, v := g.moments(x)
		g = g.Condition(x, 0, 1/(v+1e-300))
	}
	if !finite(g.cov...) || floats.Max(g.cov) > 1 || !finite(g.Sample(nil, stream)...) {
		t.Errorf("the covariance went astray: %v", g.cov)
	}
}

func BenchmarkCondition(b *testing.B) {
	for _, d := range []int{5, 11, 39, 200} {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			g := Isotropic(d, 1)
			x := normals(d, rng.New(11, "bench", 0))
			b.ReportAllocs()
			for b.Loop() {
				g.Condition(x, 0.1, 1e-4)
			}
		})
	}
}

// The error of an answer whose prediction is too large says what to change.
func TestTooLargePredictions(t *testing.T) {
	shared := model(2)
	for name, m := range map[string]idrl.RewardModel{"one noise": shared, "a noise of each": ownOf(t, shared, idrl.CompareClips)} {
		if _, err := m.Condition(m.Prior(), comparison(1e200, 0), choseA); err == nil || !strings.Contains(err.Error(), "make prior_var smaller") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
