package belief

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// normals returns n standard normal numbers.
func normals(n int, stream *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = stream.NormFloat64()
	}
	return x
}

// correlated returns N(mean, AAᵀ + I/10) with random mean and A.
func correlated(t testing.TB, d int, stream *rand.Rand) *Gaussian {
	t.Helper()
	a := mat.NewDense(d, d, normals(d*d, stream))
	cov := mat.NewSymDense(d, nil)
	cov.SymOuterK(1, a)
	for i := range d {
		cov.SetSym(i, i, cov.At(i, i)+0.1)
	}
	g := must.Get(NewGaussian(normals(d, stream), cov))(t)
	return g
}

func covariance(g *Gaussian) *mat.SymDense {
	var s mat.SymDense
	g.Cov(&s)
	return &s
}

func TestNewGaussian(t *testing.T) {
	for _, test := range []struct {
		name string
		mean []float64
		cov  []float64 // 2×2
		ok   bool
	}{
		{"correlated", []float64{1, 2}, []float64{2, 1, 1, 2}, true},
		{"sizes disagree", []float64{1}, []float64{2, 1, 1, 2}, false},
		{"mean is not a number", []float64{1, math.NaN()}, []float64{2, 1, 1, 2}, false},
		{"infinite mean", []float64{math.Inf(-1), 2}, []float64{2, 1, 1, 2}, false},
		{"covariance is not a number", []float64{1, 2}, []float64{2, math.NaN(), math.NaN(), 2}, false},
		{"infinite variance", []float64{1, 2}, []float64{math.Inf(1), 1, 1, 2}, false},
		{"correlation above one", []float64{1, 2}, []float64{1, 2, 2, 1}, false},
		{"singular", []float64{1, 2}, []float64{1, 1, 1, 1}, false},
	} {
		cov := mat.NewSymDense(2, test.cov)
		g, err := NewGaussian(test.mean, cov)
		if (err == nil) != test.ok || err != nil && idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v", test.name, err)
		}
		if err != nil {
			continue
		}
		cov.SetSym(0, 0, 99) // the belief holds a copy
		test.mean[0] = 99
		if !mat.Equal(covariance(g), mat.NewSymDense(2, []float64{2, 1, 1, 2})) || g.Mean(nil)[0] != 1 {
			t.Errorf("%s: not a copy of the arguments", test.name)
		}
	}
	for _, f := range []func(){func() { Isotropic(0, 1) }, func() { Isotropic(2, 0) }, func() { Isotropic(2, math.NaN()) }, func() { Isotropic(2, 1).CovMul(make([]float64, 2), make([]float64, 3)) }} {
		if !panics(f) {
			t.Error("a caller's mistake passed")
		}
	}
}

func TestCovMul(t *testing.T) {
	g := correlated(t, 7, rng.New(1, "test", 0))
	x := normals(7, rng.New(1, "test", 1))
	got := make([]float64, 7)
	g.CovMul(got, x)
	var want mat.VecDense
	want.MulVec(covariance(g), mat.NewVecDense(7, x))
	if !floats.EqualApprox(got, want.RawVector().Data, 1e-13) {
		t.Errorf("Σx = %v, want %v", got, want.RawVector().Data)
	}
}

func TestSample(t *testing.T) {
	g := correlated(t, 3, rng.New(6, "test", 0))
	stream := rng.New(6, "draws", 0)
	const n = 200_000
	draws := mat.NewDense(n, 3, nil)
	for i := range n {
		g.Sample(draws.RawRowView(i), stream)
	}
	for j := range 3 {
		col := mat.Col(nil, j, draws)
		mean := floats.Sum(col) / n
		within(t, fmt.Sprintf("mean %d", j), mean, g.mean[j], 5*math.Sqrt(g.cov[4*j]/n))
		for k := range 3 {
			other := mat.Col(nil, k, draws)
			got := floats.Dot(col, other)/n - mean*floats.Sum(other)/n
			scale := math.Sqrt(g.cov[4*j] * g.cov[4*k])
			within(t, fmt.Sprintf("covariance %d %d", j, k), got, g.cov[3*j+k], 5*scale*math.Sqrt(2.0/n))
		}
	}
	a, b := g.Sample(nil, rng.New(7, "x", 0)), g.Sample(make([]float64, 3), rng.New(7, "x", 0))
	if !floats.Equal(a, b) {
		t.Error("equal streams gave different draws")
	}
}

// A covariance that is singular, zero or a little indefinite from rounding is
// drawn from with jitter.
func TestSampleOfSingular(t *testing.T) {
	for name, cov := range map[string][]float64{
		"singular":   {1, 1, 1, 1},
		"indefinite": {1, 1 + 1e-9, 1 + 1e-9, 1},
		"zero":       {0, 0, 0, 0},
	} {
		g := &Gaussian{mean: []float64{3, 3}, cov: cov}
		x := g.Sample(nil, rng.New(8, name, 0))
		if !finite(x...) || math.Abs(x[0]-x[1]) > 1e-3 {
			t.Errorf("%s: draw %v, want two equal numbers", name, x)
		}
	}
}

func TestSampleFrom(t *testing.T) {
	g := correlated(t, 3, rng.New(6, "test", 0))
	z := normals(3, rng.New(6, "z", 0))
	var c mat.Cholesky
	if !c.Factorize(covariance(g)) {
		t.Fatal("not positive definite")
	}
	var l mat.TriDense
	c.LTo(&l)
	var want mat.VecDense
	want.MulVec(&l, mat.NewVecDense(3, z))
	want.AddVec(&want, mat.NewVecDense(3, g.mean))
	got := g.SampleFrom(nil, z)
	if !floats.EqualApprox(got, want.RawVector().Data, 1e-14) {
		t.Errorf("draw %v, want %v", got, want.RawVector().Data)
	}
	if g.SampleFrom(z, z); !floats.Equal(z, got) {
		t.Errorf("in place %v, want %v", z, got)
	}
	stream := rng.New(7, "x", 0)
	if draw := g.Sample(nil, stream); !floats.Equal(draw, g.SampleFrom(nil, normals(3, rng.New(7, "x", 0)))) {
		t.Errorf("Sample gave %v, not what its normal numbers stand for", draw)
	}
}

func TestPredictive(t *testing.T) {
	g := correlated(t, 3, rng.New(8, "test", 0))
	p := g.Predictive(0.25)
	for i := range 3 {
		for j := range 3 {
			want := g.cov[3*i+j]
			if i == j {
				want += 0.25
			}
			within(t, "covariance", p.cov[3*i+j], want, 0)
		}
	}
	if !floats.Equal(p.mean, g.mean) || !panics(func() { g.Predictive(-1) }) || !panics(func() { g.Predictive(math.NaN()) }) {
		t.Error("another mean, or a caller's mistake passed")
	}
}

func TestConcurrentUse(t *testing.T) {
	g := correlated(t, 20, rng.New(9, "test", 0))
	var group sync.WaitGroup
	draws := make([][]float64, 8)
	for i := range draws {
		group.Go(func() {
			draws[i] = g.Sample(nil, rng.New(9, "same", 0))
			g.Condition(draws[i], 0.1, 1e-3).Sample(nil, rng.New(9, "own", uint64(i)))
		})
	}
	group.Wait()
	for _, x := range draws {
		if !floats.Equal(x, draws[0]) {
			t.Fatal("equal streams gave different draws")
		}
	}
}

func TestReadingDoesNotAllocate(t *testing.T) {
	g := correlated(t, 39, rng.New(10, "test", 0))
	dst, x := make([]float64, 39), g.Mean(nil)
	stream := rng.New(10, "draws", 0)
	g.Sample(dst, stream) // factorises
	if n := testing.AllocsPerRun(100, func() {
		g.Mean(dst)
		g.CovMul(dst, x)
		g.Sample(dst, stream)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkSample(b *testing.B) {
	for _, d := range []int{5, 11, 39, 200} {
		g := correlated(b, d, rng.New(12, "bench", 0))
		stream := rng.New(12, "draws", 0)
		dst := make([]float64, d)
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			for b.Loop() {
				g.Sample(dst, stream)
			}
		})
		b.Run(fmt.Sprintf("d=%d/factorise", d), func(b *testing.B) {
			for b.Loop() {
				g.factorise()
			}
		})
	}
}
