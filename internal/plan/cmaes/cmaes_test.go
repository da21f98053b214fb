package cmaes_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/plan/cmaes"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

func newStrategy(t *testing.T, mean []float64, c cmaes.Config) *cmaes.Strategy {
	t.Helper()
	s := must.Get(cmaes.New(mean, c))(t)
	return s
}

// tell evaluates a generation.
func tell(t *testing.T, s *cmaes.Strategy, xs [][]float64, f func(x []float64) float64) {
	t.Helper()
	values := make([]float64, len(xs))
	for i, x := range xs {
		values[i] = f(x)
	}
	must.Do(t, s.Tell(values))
}

func sphere(x []float64) float64 { return -floats.Dot(x, x) }

// ellipsoid has axes whose lengths differ by a factor of 1,000, turned against the
// coordinates by a reflection.
func ellipsoid(x []float64) float64 {
	sum, n := 0.0, float64(len(x))
	mean := floats.Sum(x) / n
	for i := range x {
		turned := x[i] - 2*mean
		sum += math.Pow(1e6, float64(i)/max(1, n-1)) * turned * turned
	}
	return -sum
}

func rosenbrock(x []float64) float64 {
	sum := 0.0
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		sum += 100*a*a + b*b
	}
	return -sum
}

// TestFindsTheMaximum: the bounds are about 1.5 times the evaluations that the slowest of
// the three seeds takes.
func TestFindsTheMaximum(t *testing.T) {
	for _, test := range []struct {
		name  string
		f     func([]float64) float64
		start float64
		n     int
		evals int
		at    float64 // coordinates of the maximum, whose value is 0
	}{
		{"sphere", sphere, 1, 1, 200, 0},
		{"sphere", sphere, 1, 10, 2600, 0},
		{"sphere", sphere, 1, 40, 8700, 0},
		{"ellipsoid", ellipsoid, 1, 10, 9600, 0},
		{"rosenbrock", rosenbrock, 0, 10, 11700, 1},
	} {
		for seed := range uint64(3) {
			mean := make([]float64, test.n)
			floats.AddConst(test.start, mean)
			s, stream := newStrategy(t, mean, cmaes.Config{Sigma: 0.5}), rng.New(seed, "test", 0)
			evals := 0
			for ; evals+s.Lambda() <= test.evals && test.f(s.Mean()) < -1e-10; evals += s.Lambda() {
				tell(t, s, s.Ask(stream), test.f)
			}
			t.Logf("%s in %d dimensions, seed %d: %d evaluations", test.name, test.n, seed, evals)
			if v := test.f(s.Mean()); !(v >= -1e-10) {
				t.Errorf("%s in %d dimensions, seed %d: %v after %d evaluations", test.name, test.n, seed, v, evals)
			}
			for _, v := range s.Mean() {
				if math.Abs(v-test.at) > 1e-3 {
					t.Errorf("%s: a coordinate is %v, want %v", test.name, v, test.at)
				}
			}
			if s.Generation() != evals/s.Lambda() {
				t.Errorf("%d generations for %d evaluations", s.Generation(), evals)
			}
		}
	}
}

// noted returns f for gonum's CmaEsChol, which minimises, and the points at which it was
// called.
func noted(f func([]float64) float64) (optimize.Problem, *[][]float64) {
	var xs [][]float64
	return optimize.Problem{Func: func(x []float64) float64 {
		xs = append(xs, append([]float64(nil), x...))
		return -f(x)
	}}, &xs
}

func minimise(t *testing.T, p optimize.Problem, start []float64, lambda, evals int, src rand.Source) {
	t.Helper()
	must.Get(optimize.Minimize(p, start, &optimize.Settings{FuncEvaluations: evals, Converger: optimize.NeverTerminate{}},
		&optimize.CmaEsChol{InitStepSize: 1, Population: lambda, Src: src}))(t)
}

// TestAgainstGonum: with σ = 1 the first generation of gonum's CmaEsChol and the update
// after it are ours, number for number, in all dimensions. Of the second generation the
// steps from the mean are ours but for σ, by which CmaEsChol does not scale its draws
// (gonum v0.17, optimize/cmaes.go, sendTask).
func TestAgainstGonum(t *testing.T) {
	for _, n := range []int{1, 2, 7, 20} {
		start := make([]float64, n)
		for i := range start {
			start[i] = float64(i%3) + 0.5
		}
		s := newStrategy(t, start, cmaes.Config{Sigma: 1, Lambda: 10})
		problem, theirs := noted(ellipsoid)
		minimise(t, problem, start, 10, 20, rng.Source(4, "gonum", uint64(n)))

		stream := rng.New(4, "gonum", uint64(n))
		first := s.Ask(stream)
		if diff := cmp.Diff((*theirs)[:10], first, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Fatalf("%d dimensions: first generation (-gonum +ours):\n%s", n, diff)
		}
		tell(t, s, first, ellipsoid)
		second := s.Ask(stream)
		for k, x := range second {
			floats.Sub(x, s.Mean())
			floats.Scale(1/s.Sigma(), x)
			floats.Add(x, s.Mean())
			if diff := cmp.Diff((*theirs)[10+k], x, cmpopts.EquateApprox(1e-10, 1e-10)); diff != "" {
				t.Fatalf("%d dimensions: candidate %d of the second generation (-gonum +ours):\n%s", n, k, diff)
			}
		}
	}
}

// TestNoWorseThanGonum: after as many evaluations the value is at least as good.
func TestNoWorseThanGonum(t *testing.T) {
	for name, f := range map[string]func([]float64) float64{"sphere": sphere, "ellipsoid": ellipsoid, "rosenbrock": rosenbrock} {
		const n, lambda, evals = 8, 10, 3000
		start := make([]float64, n)
		floats.AddConst(2, start)
		problem, theirs := noted(f)
		minimise(t, problem, start, lambda, evals, rng.Source(9, "gonum", 0))
		gonum := math.Inf(-1)
		for _, x := range *theirs {
			gonum = max(gonum, f(x))
		}
		s, stream, ours := newStrategy(t, start, cmaes.Config{Sigma: 1, Lambda: lambda}), rng.New(9, "gonum", 0), math.Inf(-1)
		for range evals / lambda {
			tell(t, s, s.Ask(stream), func(x []float64) float64 {
				ours = max(ours, f(x))
				return f(x)
			})
		}
		if t.Logf("%s: %.3g, gonum %.3g", name, ours, gonum); !(ours >= gonum) {
			t.Errorf("%s: %v, gonum has %v", name, ours, gonum)
		}
	}
}

// TestUpdateByHand: one dimension, two candidates, of which the better one, z, counts.
// Then w = (1), μ_eff = 1, and all follows from z.
func TestUpdateByHand(t *testing.T) {
	const m, sigma, scale = 3.0, 0.5, 2.0
	s := newStrategy(t, []float64{m}, cmaes.Config{Sigma: sigma, Lambda: 2, Scale: []float64{scale}})
	xs := s.Ask(rng.New(1, "test", 0))
	z := (xs[1][0] - m) / sigma / scale
	must.Do(t, s.Tell([]float64{-1, 2}))
	const cs, cc, c1 = 3.0 / 7, 5.0 / 7, 2 / (2.3*2.3 + 1)
	const d = 1 + cs // and c_μ is 0
	chi := 1 - 1.0/4 + 1.0/21
	pathS := math.Sqrt(cs*(2-cs)) * z
	keep, pathC := 1-c1, math.Sqrt(cc*(2-cc))*scale*z
	if math.Abs(pathS)/math.Sqrt(1-(1-cs)*(1-cs))/chi >= 1.4+1 {
		t.Fatal("the draw is so large that the path of C stops; take another seed")
	}
	wantSigma := sigma * math.Exp(cs/d*(math.Abs(pathS)/chi-1))
	want := []float64{xs[1][0], wantSigma, wantSigma * math.Sqrt(keep*scale*scale+c1*pathC*pathC)}
	if diff := cmp.Diff(want, []float64{s.Mean()[0], s.Sigma(), s.Std(nil)[0]}, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("mean, σ and standard deviation (-want +got):\n%s", diff)
	}
}

// TestDraws: candidates have the mean and the standard deviations that were asked for,
// within four standard errors.
func TestDraws(t *testing.T) {
	const n = 20000
	scale := []float64{1, 10, 0.1}
	s := newStrategy(t, []float64{1, -2, 3}, cmaes.Config{Sigma: 0.3, Lambda: n, Scale: scale})
	xs := s.Ask(rng.New(1, "draws", 0))
	for i := range scale {
		column := make([]float64, n)
		for k, x := range xs {
			column[k] = x[i]
		}
		mean, std := stat.MeanStdDev(column, nil)
		want := 0.3 * scale[i]
		if math.Abs(mean-s.Mean()[i]) > 4*want/math.Sqrt(n) || math.Abs(std/want-1) > 4/math.Sqrt(2*n) {
			t.Errorf("number %d: mean %v, standard deviation %v, want %v and %v", i, mean, std, s.Mean()[i], want)
		}
		if got := s.Std(nil)[i]; math.Abs(got/want-1) > 1e-12 {
			t.Errorf("number %d: Std = %v, want %v", i, got, want)
		}
	}
}

// TestValuesThatAreNone: candidates of which nothing is known do not draw the search
// towards them.
func TestValuesThatAreNone(t *testing.T) {
	for name, none := range map[string]float64{"NaN": math.NaN(), "-Inf": math.Inf(-1)} {
		s := newStrategy(t, []float64{1, 1}, cmaes.Config{Sigma: 0.5, Lambda: 8})
		stream := rng.New(3, "none", 0)
		for range 20 {
			before := s.Mean()
			tell(t, s, s.Ask(stream), func([]float64) float64 { return none })
			if diff := cmp.Diff(before, s.Mean()); diff != "" {
				t.Errorf("%s: the mean moved:\n%s", name, diff)
			}
		}
		if std := s.Std(nil)[0]; !(std < 0.5 && std > 0) {
			t.Errorf("%s: standard deviation %v, want less than at first", name, std)
		}
		// half of the plane has no value
		s = newStrategy(t, []float64{1, 1}, cmaes.Config{Sigma: 0.5, Lambda: 8})
		for range 80 {
			tell(t, s, s.Ask(stream), func(x []float64) float64 {
				if x[0] < 0 {
					return none
				}
				return sphere(x)
			})
		}
		if v := sphere(s.Mean()); v < -1e-4 {
			t.Errorf("%s on one side: value %v after 80 generations, want the maximum at the edge, 0", name, v)
		}
	}
}

// TestUnbounded: a function without a maximum gives no number that is not finite.
func TestUnbounded(t *testing.T) {
	for name, f := range map[string]func([]float64) float64{
		"plane": func(x []float64) float64 { return x[0] },
		"level": func([]float64) float64 { return 1 },
	} {
		s, stream := newStrategy(t, make([]float64, 5), cmaes.Config{Sigma: 1}), rng.New(1, "plane", 0)
		for range 3000 {
			tell(t, s, s.Ask(stream), f)
		}
		for _, v := range append(s.Mean(), s.Std(nil)...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%s: a number is %v", name, v)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		mean []float64
		c    cmaes.Config
	}{
		"no numbers":          {nil, cmaes.Config{Sigma: 1}},
		"no step size":        {[]float64{1}, cmaes.Config{}},
		"negative step size":  {[]float64{1}, cmaes.Config{Sigma: -1}},
		"step size NaN":       {[]float64{1}, cmaes.Config{Sigma: math.NaN()}},
		"one candidate":       {[]float64{1}, cmaes.Config{Sigma: 1, Lambda: 1}},
		"negative candidates": {[]float64{1}, cmaes.Config{Sigma: 1, Lambda: -4}},
		"mean NaN":            {[]float64{1, math.NaN()}, cmaes.Config{Sigma: 1}},
		"mean infinite":       {[]float64{math.Inf(1)}, cmaes.Config{Sigma: 1}},
		"too few scales":      {[]float64{1, 2}, cmaes.Config{Sigma: 1, Scale: []float64{1}}},
		"scale 0":             {[]float64{1}, cmaes.Config{Sigma: 1, Scale: []float64{0}}},
		"scale NaN":           {[]float64{1}, cmaes.Config{Sigma: 1, Scale: []float64{math.NaN()}}},
		"scale too small":     {[]float64{1}, cmaes.Config{Sigma: 1, Scale: []float64{1e-200}}},
	} {
		if s, err := cmaes.New(test.mean, test.c); err == nil || s != nil {
			t.Errorf("%s: no error", name)
		}
	}
	s := newStrategy(t, []float64{1, 2}, cmaes.Config{Sigma: 1, Lambda: 4})
	before := s.Encode()
	if s.Tell(make([]float64, 4)) == nil {
		t.Error("values before candidates: no error")
	}
	if diff := cmp.Diff(before, s.Encode()); diff != "" {
		t.Error("an error changed the search")
	}
	s.Ask(rng.New(1, "", 0))
	before = s.Encode()
	for name, values := range map[string][]float64{"too few": make([]float64, 3), "too many": make([]float64, 5), "infinite": {1, math.Inf(1), 0, 0}} {
		if s.Tell(values) == nil {
			t.Errorf("%s values: no error", name)
		}
		if diff := cmp.Diff(before, s.Encode()); diff != "" {
			t.Errorf("%s values changed the search", name)
		}
	}
}
