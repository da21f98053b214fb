package sac

import (
	"math"
	"testing"

	"tiebreak/internal/rng"
)

// TestFunctions compares the float32 functions with the standard library's: errors
// relative to the values, those of tanh and of the log slope to 1 plus its size.
func TestFunctions(t *testing.T) {
	worst := map[string]float64{}
	note := func(name string, got float32, want float64) {
		worst[name] = max(worst[name], math.Abs(float64(got)-want)/math.Abs(want))
	}
	about := func(name string, got float32, want float64) {
		worst[name] = max(worst[name], math.Abs(float64(got)-want)/(1+math.Abs(want)))
	}
	for x := -87.0; x <= 87; x += 0.00317 {
		v := float32(x)
		note("exp", exp32(v), math.Exp(float64(v)))
	}
	for e := 1e-30; e <= 1; e *= 1.0007 {
		v := float32(e)
		note("log1p", log1p32(v), math.Log1p(float64(v)))
	}
	for u := 0.001; u < 39; u *= 1.0007 {
		for _, v := range []float32{float32(u), -float32(u)} {
			a, slope, logSlope := squash(v)
			x := math.Abs(float64(v))
			about("log slope", logSlope, -2*(x+math.Log1p(math.Exp(-2*x))-math.Ln2))
			note("slope", slope, 1/(math.Cosh(x)*math.Cosh(x)))
			about("tanh", a, math.Tanh(float64(v)))
		}
	}
	for name, limit := range map[string]float64{"exp": 2.4e-7, "log1p": 2.4e-7, "slope": 6e-7, "tanh": 2.4e-7, "log slope": 4e-7} {
		if !(worst[name] <= limit) {
			t.Errorf("%s: relative error %.2g, want at most %.2g", name, worst[name], limit)
		}
	}
	t.Log(worst)
}

// TestSquashAtTheEdges holds that nothing is lost where tanh rounds to ±1.
func TestSquashAtTheEdges(t *testing.T) {
	for _, u := range []float32{0, 20, -20, 40, -40, 1e30, float32(math.Inf(-1))} {
		a, slope, logSlope := squash(u)
		if !(a >= -1 && a <= 1 && slope >= 0 && slope <= 1) || math.IsInf(float64(logSlope), 0) || math.IsNaN(float64(logSlope)) {
			t.Errorf("squash(%v) = %v, %v, %v", u, a, slope, logSlope)
		}
	}
	if a, slope, logSlope := squash(0); a != 0 || slope != 1 || math.Abs(float64(logSlope)) > 2e-7 {
		t.Errorf("squash(0) = %v, %v, %v, want 0, 1, 0", a, slope, logSlope)
	}
}

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
