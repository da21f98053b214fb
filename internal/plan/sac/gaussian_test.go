package sac

import (
	"math"
	"testing"

	"tiebreak/internal/base/rng"
)

// TestDensity compares log densities with those that follow from the definition: the
// normal density of u over the derivative of tanh.
func TestDensity(t *testing.T) {
	const rows, dim = 50, 3
	stream := rng.New(1, "density", 0)
	q := newSquashed(rows, dim)
	out, logp := make([]float32, rows*2*dim), make([]float32, rows)
	for i := range out {
		out[i] = float32(3 * stream.NormFloat64())
	}
	q.draw(stream)
	q.sample(out, logp)
	for i := range rows {
		want := 0.0
		for j := range dim {
			mean, std := float64(out[2*i*dim+j]), math.Exp(max(-20, min(2, float64(out[(2*i+1)*dim+j]))))
			u := mean + std*float64(q.noise[i*dim+j])
			if a := float64(q.action[i*dim+j]); math.Abs(a-math.Tanh(u)) > 1e-6 {
				t.Errorf("action %v, want tanh(%v)", a, u)
			}
			z := (u - mean) / std
			want += -z*z/2 - math.Log(std*math.Sqrt(2*math.Pi)) + 2*math.Log(math.Cosh(u))
		}
		if math.Abs(float64(logp[i])-want) > 1e-4 {
			t.Errorf("row %d: log density %v, want %v", i, logp[i], want)
		}
	}
}

// TestDensityIntegrates integrates the density of a one-dimensional action over [−1, 1].
func TestDensityIntegrates(t *testing.T) {
	const n = 20000
	for _, test := range []struct{ mean, logStd float64 }{{0, -1}, {0.7, -0.5}, {-2, 0.3}} {
		q := newSquashed(1, 1)
		logp, sum := []float32{0}, 0.0
		for k := range n {
			a := -1 + 2*(float64(k)+0.5)/n
			q.noise[0] = float32((math.Atanh(a) - test.mean) / math.Exp(test.logStd))
			q.sample([]float32{float32(test.mean), float32(test.logStd)}, logp)
			sum += math.Exp(float64(logp[0])) * 2 / n
		}
		if math.Abs(sum-1) > 2e-3 {
			t.Errorf("mean %v, log std %v: the density integrates to %v", test.mean, test.logStd, sum)
		}
	}
}

// TestSquashedGradient compares the gradient with central differences of
// Σ c·a + w Σ log p, computed in float64.
func TestSquashedGradient(t *testing.T) {
	const rows, dim, w = 20, 3, 0.3
	stream := rng.New(2, "gradient", 0)
	q := newSquashed(rows, dim)
	out, c := make([]float32, rows*2*dim), make([]float32, rows*dim)
	for i := range out {
		out[i] = float32(stream.NormFloat64())
	}
	for i := range c {
		c[i] = float32(stream.NormFloat64())
	}
	out[dim], out[2*dim+dim] = 5, -30 // log standard deviations that are clipped
	q.draw(stream)
	loss := func(out []float64) float64 {
		sum := 0.0
		for i := range rows {
			for j := range dim {
				k := i*dim + j
				logStd := max(-20, min(2, out[(2*i+1)*dim+j]))
				e := float64(q.noise[k])
				u := out[2*i*dim+j] + math.Exp(logStd)*e
				sum += float64(c[k])*math.Tanh(u) + w*(-e*e/2-logStd+2*math.Log(math.Cosh(u)))
			}
		}
		return sum
	}
	got, logp := make([]float32, len(out)), make([]float32, rows)
	q.sample(out, logp)
	q.backward(got, c, w)
	x := make([]float64, len(out))
	for i, v := range out {
		x[i] = float64(v)
	}
	for i := range x {
		const h = 1e-6
		old := x[i]
		x[i] = old + h
		up := loss(x)
		x[i] = old - h
		want := (up - loss(x)) / (2 * h)
		x[i] = old
		if math.Abs(float64(got[i])-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf("output %d: gradient %v, want %v", i, got[i], want)
		}
	}
}
