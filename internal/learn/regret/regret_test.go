package regret_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/chain"
	"tiebreak/envs/junction"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/regret"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

func policies(mus ...[]float64) (out []idrl.Candidate) {
	for k, mu := range mus {
		out = append(out, idrl.Candidate{ID: idrl.PolicyID(fmt.Sprint("p", k)), Mu: mu})
	}
	return out
}

func state(p idrl.Posterior, known []idrl.Candidate) idrl.Regret {
	return regret.New(idrl.DefaultTolerance, rng.New(1, "regret", 0)).Statement(p, known, regret.Leader(p, known))
}

// Two policies whose returns differ by θ ~ N(m, 1): the leader loses θ's other side,
// all of the span, with probability Φ(−m).
func TestTwoPolicies(t *testing.T) {
	known := policies([]float64{5, 1}, []float64{5, 0}) // what they share does not count
	for _, m := range []float64{0.5, 1, 1.5, 2} {
		p := must.Get(belief.NewGaussian([]float64{70, m}, mat.NewSymDense(2, []float64{1, 0, 0, 1})))(t)
		got, wrong := state(p, known), math.Erfc(m/math.Sqrt2)/2
		if tol := 4 * math.Sqrt(wrong*(1-wrong)/1000); math.Abs(got.Mean-wrong) > tol || math.Abs(1-got.Within-wrong) > tol || got.Within != got.Unbeaten {
			t.Errorf("mean %v: %+v, want an expected loss of %v ± %v and no small losses", m, got, wrong, tol)
		}
		if want := map[bool]float64{true: 1, false: 0}[wrong > 0.05]; got.Bound != want {
			t.Errorf("mean %v: bound %v, want %v where all is lost with probability %v", m, got.Bound, want, wrong)
		}
		span := m*math.Erf(m/math.Sqrt2) + math.Sqrt(2/math.Pi)*math.Exp(-m*m/2) // E|θ|
		if math.Abs(got.Span-span) > 0.1 || got.Policies != 2 || got.Definition != idrl.RegretDefinition {
			t.Errorf("mean %v: %+v, want a span of %v", m, got, span)
		}
	}
}

// Where all policies are equal nothing is lost, and nothing is divided by a span of 0.
func TestEqualPolicies(t *testing.T) {
	for name, known := range map[string][]idrl.Candidate{
		"one": policies([]float64{1, 2}), "equal": policies([]float64{1, 2}, []float64{1, 2}, []float64{1, 2}),
	} {
		got := state(belief.Isotropic(2, 1), known)
		if want := (idrl.Regret{Definition: idrl.RegretDefinition, Policies: len(known), Tolerance: idrl.DefaultTolerance, Within: 1, Unbeaten: 1}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// The scale of the weights is not known from comparisons; no share depends on it.
func TestSharesHaveNoScale(t *testing.T) {
	stream := rng.New(3, "policies", 0)
	var mus [][]float64
	for range 12 {
		mus = append(mus, []float64{stream.NormFloat64(), stream.NormFloat64(), 1})
	}
	mean := []float64{0.5, 1, -3}
	one := must.Get(belief.NewGaussian(mean, mat.NewSymDense(3, []float64{2, 0.5, 0, 0.5, 1, 0, 0, 0, 1})))(t)
	floats.Scale(16, mean) // a power of two: no rounding
	wide := must.Get(belief.NewGaussian(mean, mat.NewSymDense(3, []float64{512, 128, 0, 128, 256, 0, 0, 0, 256})))(t)
	got, want := state(wide, policies(mus...)), state(one, policies(mus...))
	want.Span *= 16
	if got != want {
		t.Errorf("weights 16 times as large: %+v, want %+v", got, want)
	}
}

// The statement about a fixed belief, over all policies there are, against 10,000
// draws each of which is solved exactly.
func TestStatementAgainstExactSolves(t *testing.T) {
	for _, test := range []struct {
		env      idrl.Tabular
		policies int
	}{
		{chain.New(chain.Config{}), 1024},
		{junction.New(junction.Config{}), 2},
	} {
		t.Run(test.env.Spec().ID, func(t *testing.T) {
			all, err := solver.AllPolicies(test.env)
			if err != nil || len(all) != test.policies {
				t.Fatalf("%d policies, %v; want %d", len(all), err, test.policies)
			}
			var known []idrl.Candidate
			for _, p := range all {
				known = append(known, policies(solver.TabularMu(test.env, p))...)
			}
			p := informed(test.env.Spec().FeatureDim())
			got := state(p, known)
			shares := solved(t, test.env, p, known)
			n := 8_000_000 / float64(p.Dim()*len(known)+p.Dim()*p.Dim()/2)
			n = min(1000, n)
			mean, std := stat.MeanStdDev(shares, nil)
			if tol := 4 * std * math.Sqrt(1/n+1e-4); math.Abs(got.Mean-mean) > tol {
				t.Errorf("expected loss %v, want %v ± %v", got.Mean, mean, tol)
			}
			below := func(v float64) (share float64) {
				for _, s := range shares {
					if s <= v+1e-12 {
						share += 1 / float64(len(shares))
					}
				}
				return share
			}
			within := below(idrl.DefaultTolerance)
			if tol := 4 * math.Sqrt(within*(1-within)*(1/n+1e-4)); math.Abs(got.Within-within) > tol {
				t.Errorf("small losses: %v, want %v ± %v", got.Within, within, tol)
			}
			tol := 4 * math.Sqrt(0.05*0.95*(1/n+1e-4))
			if covered := below(got.Bound); covered < 0.95-tol || got.Bound > 0 && below(got.Bound-1e-9) > 0.95+tol {
				t.Errorf("%v of the losses are below the bound %v, want 0.95 ± %v", covered, got.Bound, tol)
			}
			t.Logf("%d policies: said %.3f, %.3f, %.3f; exact %.3f, %.3f, %.3f (small, bound, mean)", len(known),
				got.Within, got.Bound, got.Mean, within, quantile(shares), mean)
		})
	}
}

// informed returns a belief in d dimensions after a few answers.
func informed(d int) *belief.Gaussian {
	p, stream := belief.Isotropic(d, 1), rng.New(2, "answers", 0)
	x := make([]float64, d)
	for range 6 {
		for i := range x {
			x[i] = stream.NormFloat64()
		}
		p = p.ConditionOnValue(x, 2*stream.NormFloat64(), 0.5)
	}
	return p
}

// solved returns the shares that the leader of known loses under 10,000 draws, against
// the policy that is solved for each.
func solved(t *testing.T, env idrl.Tabular, p idrl.Posterior, known []idrl.Candidate) (shares []float64) {
	t.Helper()
	mus := mat.NewDense(len(known), p.Dim(), nil)
	for k, c := range known {
		mus.SetRow(k, c.Mu)
	}
	leader := regret.Leader(p, known)
	stream := rng.New(5, "draws", 0)
	returns := mat.NewVecDense(len(known), nil)
	for i := range 10_000 {
		theta := p.Sample(nil, stream)
		returns.MulVec(mus, mat.NewVecDense(p.Dim(), theta))
		r := returns.RawVector().Data
		most := floats.Max(r)
		if i < 300 { // that the best of all policies is the solution
			best := must.Get(solver.Tabular{}.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: theta}, stream))(t)
			if got := floats.Dot(theta, solver.TabularMu(env, best.Params())); math.Abs(got-most) > 1e-9*(1+math.Abs(most)) {
				t.Fatalf("the solver reaches %v, the best policy %v", got, most)
			}
		}
		shares = append(shares, (most-r[leader])/(most-floats.Min(r)))
	}
	return shares
}

func quantile(shares []float64) float64 {
	s := slices.Sorted(slices.Values(shares))
	return stat.Quantile(0.95, stat.Empirical, s, nil)
}

func TestLeaderIsTheFirstOfEquals(t *testing.T) {
	p := must.Get(belief.NewGaussian([]float64{1, 1}, mat.NewSymDense(2, []float64{1, 0, 0, 1})))(t)
	for want, known := range [][]idrl.Candidate{
		policies([]float64{1, 1}, []float64{2, 0}), policies([]float64{0, 1}, []float64{2, 0}, []float64{0, 2}),
	} {
		if got := regret.Leader(p, known); got != want {
			t.Errorf("leader %d, want %d", got, want)
		}
	}
}

// A policy whose episodes are known leads, by its mean return less half of the standard
// deviation of the episodes.
func TestLeaderBySpread(t *testing.T) {
	p := must.Get(belief.NewGaussian([]float64{1, 0}, mat.NewSymDense(2, []float64{1, 0, 0, 1})))(t)
	of := func(returns ...float64) (c idrl.Candidate) {
		c.Mu = make([]float64, 2)
		for i, r := range returns {
			c.Mus = append(c.Mus, []float64{r, float64(i)})
			c.Mu[0] += r / float64(len(returns))
		}
		return c
	}
	for _, test := range []struct {
		name  string
		known []idrl.Candidate
		want  int
	}{
		{"steady before better on average", []idrl.Candidate{of(3, 9), of(5, 5)}, 1}, // 6 − 3/2 against 5
		{"better by more than the spread", []idrl.Candidate{of(5, 5), of(5, 9)}, 1},  // 5 against 7 − 2/2
		{"the first of equals", []idrl.Candidate{of(5, 5), of(5, 7), of(4, 8)}, 1},   // 5, 5.5 and 5
		{"known before unknown", []idrl.Candidate{{Mu: []float64{9, 0}}, of(1, 1), {Mu: []float64{7, 0}}, of(2, 2)}, 3},
		{"none known", []idrl.Candidate{{Mu: []float64{3, 0}}, {Mu: []float64{7, 0}}}, 1},
	} {
		if got := regret.Leader(p, test.known); got != test.want {
			t.Errorf("%s: leader %d, want %d", test.name, got, test.want)
		}
	}
}

// A statement after an answer costs less than choosing the next question does.
func BenchmarkStatement(b *testing.B) {
	for _, size := range []struct {
		name string
		d, p int
	}{
		{"driver", 5, 36}, {"gridworld", 11, 40}, {"junction", 25, 230}, {"large", 200, 230},
	} {
		b.Run(size.name, func(b *testing.B) {
			stream := rng.New(1, "policies", 0)
			var mus [][]float64
			for range size.p {
				mu := make([]float64, size.d)
				for i := range mu {
					mu[i] = stream.NormFloat64()
				}
				mus = append(mus, mu)
			}
			known := policies(mus...)
			o := regret.New(idrl.DefaultTolerance, rng.New(1, "regret", 0))
			p, x := belief.Isotropic(size.d, 1), mus[0]
			b.ReportAllocs()
			for b.Loop() {
				next := p.Condition(x, 0.1, 0.01) // a belief whose covariance has not been factored
				o.Statement(next, known, regret.Leader(next, known))
			}
		})
		m := belief.Model{Start: belief.Isotropic(size.d, 1), Comparison: belief.Probit{NoiseStd: 3, TieBand: 0.75}}
		average, ok := m.Averaged(idrl.CompareClips)
		if !ok {
			continue // too many weights
		}
		b.Run(size.name+", averaged", func(b *testing.B) {
			stream := rng.New(1, "policies", 0)
			var mus [][]float64
			var qs []idrl.QueryVector
			var as []idrl.Answer
			for k := range size.p {
				mus = append(mus, m.Start.Sample(nil, stream))
				if k < 30 {
					q := idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips}, X: m.Start.Sample(nil, stream)}
					qs, as = append(qs, q), append(as, idrl.Answer{Choice: []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}[k%3]})
				}
			}
			known := policies(mus...)
			o := regret.New(idrl.DefaultTolerance, rng.New(1, "regret", 0))
			p, _, err := average.Fit(b.Context(), average.Prior(), qs, as)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				next, err := average.Condition(p, qs[0], as[0]) // beliefs whose covariances have not been factored
				if err != nil {
					b.Fatal(err)
				}
				o.Statement(next, known, 0)
			}
		})
	}
}
