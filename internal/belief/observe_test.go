package belief

import (
	"fmt"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"

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
				m, v := g.moments(x.RawRowView(k))
				_, d1, d2 := gaussianLogZ(y[k]-m, v+noise)
				g = g.Observe(x.RawRowView(k), d1, -d2)
			}
			if !floats.EqualApprox(g.mean, mean, 1e-9) || !floats.EqualApprox(g.cov, cov, 1e-10) {
				t.Errorf("d=%d n=%d: updates one by one differ from the regression", test.d, test.n)
			}
		}
	}
}

// regression returns the posterior of Bayesian linear regression by inverses.
func regression(t *testing.T, g *Gaussian, x *mat.Dense, y []float64, noise float64) (mean, cov []float64) {
	t.Helper()
	d := g.Dim()
	var lambda, precision, inverse mat.Dense
	if err := lambda.Inverse(covariance(g)); err != nil {
		t.Fatal(err)
	}
	precision.Mul(x.T(), x)
	precision.Scale(1/noise, &precision)
	precision.Add(&precision, &lambda)
	if err := inverse.Inverse(&precision); err != nil {
		t.Fatal(err)
	}
	var h, hy, mu mat.VecDense
	h.MulVec(&lambda, mat.NewVecDense(d, g.Mean(nil)))
	hy.MulVec(x.T(), mat.NewVecDense(len(y), y))
	h.AddScaledVec(&h, 1/noise, &hy)
	mu.MulVec(&inverse, &h)
	return mu.RawVector().Data, inverse.RawMatrix().Data
}

func TestObserveLeavesTheBelief(t *testing.T) {
	g := correlated(t, 4, rng.New(3, "test", 0))
	before, _ := g.MarshalBinary()
	g.Observe([]float64{1, 2, 3, 4}, 0.7, 1e9) // κ beyond 1/v is cut
	after, _ := g.MarshalBinary()
	if string(before) != string(after) {
		t.Error("Observe changed its receiver")
	}
	x := []float64{1, 0, 0, 0}
	if _, v := g.Observe(x, 0, 1e9).moments(x); v > 1e-12 {
		t.Errorf("variance after a perfect observation = %v, want 0", v)
	}
	if same := g.Observe(x, 0, 0); !floats.Equal(same.mean, g.mean) || !floats.Equal(same.cov, g.cov) {
		t.Error("an observation without information changed the belief")
	}
}

// After 10,000 updates the covariance is symmetric to the last bit, positive
// semi-definite, and that of a fit from scratch.
func TestTenThousandUpdates(t *testing.T) {
	const d, n, noise = 11, 10_000, 0.01
	stream := rng.New(4, "many", 0)
	g := correlated(t, d, stream)
	start := g
	x := mat.NewDense(n, d, normals(n*d, stream))
	y := normals(n, stream)
	p := Probit{NoiseStd: 0.2, TieBand: 0.05}
	h := start
	choices := []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}
	for k := range n {
		row := x.RawRowView(k)
		m, v := g.moments(row)
		_, d1, d2 := gaussianLogZ(y[k]-m, v+noise)
		g = g.Observe(row, d1, -d2)
		m, v = h.moments(row)
		_, d1, d2 = p.LogZ(idrl.Answer{Choice: choices[stream.IntN(3)]}, m, v)
		h = h.Observe(row, d1, -d2)
	}
	mean, cov := regression(t, start, x, y, noise)
	if !floats.EqualApprox(g.mean, mean, 1e-9) || !floats.EqualApprox(g.cov, cov, 1e-13) {
		t.Error("10,000 updates differ from the regression")
	}
	for name, b := range map[string]*Gaussian{"gaussian": g, "probit": h} {
		sound(t, name, b)
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
	if floats.Min(values) < -1e-14*floats.Sum(values) {
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
		m, v := g.moments(x)
		_, d1, d2 := gaussianLogZ(floats.Dot(truth, x)-m, v+leastNoise)
		g = g.Observe(x, d1, -d2)
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
		g = g.Observe(x, 0, 1/(v+1e-300))
	}
	if !finite(g.cov...) || floats.Max(g.cov) > 1 || !finite(g.Sample(nil, stream)...) {
		t.Errorf("the covariance went astray: %v", g.cov)
	}
}

func BenchmarkObserve(b *testing.B) {
	for _, d := range []int{5, 11, 39, 200} {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			g := Isotropic(d, 1)
			x := normals(d, rng.New(11, "bench", 0))
			b.ReportAllocs()
			for b.Loop() {
				g.Observe(x, 0.1, 1e-4)
			}
		})
	}
}
