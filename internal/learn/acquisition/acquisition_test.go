package acquisition_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"

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

// correlated returns N(mean, AAᵀ/d + I/10) with random mean and A.
func correlated(t testing.TB, d int, stream *rand.Rand) *belief.Gaussian {
	t.Helper()
	cov := mat.NewSymDense(d, nil)
	cov.SymOuterK(1/float64(d), mat.NewDense(d, d, normals(d*d, stream)))
	for i := range d {
		cov.SetSym(i, i, cov.At(i, i)+0.1)
	}
	g := must.Get(belief.NewGaussian(normals(d, stream), cov))(t)
	return g
}

// random returns a generation of random candidates and queries.
// A game is candidates and queries that tell them apart.
type game struct {
	Candidates []idrl.Candidate
	Queries    []idrl.QueryVector
}

func random(d, candidates, queries int, kind idrl.QueryKind, stream *rand.Rand) game {
	var g game
	for range candidates {
		g.Candidates = append(g.Candidates, idrl.Candidate{Mu: normals(d, stream)})
	}
	for range queries {
		g.Queries = append(g.Queries, idrl.QueryVector{Query: idrl.Query{Kind: kind}, X: normals(d, stream)})
	}
	return g
}

// returns gives a generation whose candidates have the given expectations.
func returns(mu ...[]float64) game {
	var g game
	for _, m := range mu {
		g.Candidates = append(g.Candidates, idrl.Candidate{Mu: m})
	}
	return g
}

// variance returns δᵀΣδ.
func variance(p idrl.Posterior, delta []float64) float64 {
	work := make([]float64, len(delta))
	p.CovMul(work, delta)
	return floats.Dot(delta, work)
}

// difference returns μ_i − μ_j.
func difference(g game, i, j int) []float64 {
	delta := make([]float64, len(g.Candidates[i].Mu))
	floats.SubTo(delta, g.Candidates[i].Mu, g.Candidates[j].Mu)
	return delta
}

func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.15g, want %.15g (± %.1g)", what, got, want, tol)
	}
}

func probit(start *belief.Gaussian) belief.Model {
	return belief.Model{Start: start, Comparison: belief.Probit{NoiseStd: 0.8, TieBand: 0.2}, Rating: belief.Rating{NoiseVar: 0.3}}
}

// input gathers what a question is chosen from among the queries of g, whose
// candidates are all the policies.
func input(m idrl.RewardModel, p idrl.Posterior, g game, stream *rand.Rand) *acquisition.Input {
	table := acquisition.NewTable(m, p, g.Queries)
	table.SetPolicies(g.Candidates)
	return &acquisition.Input{Table: table, Candidates: len(g.Candidates), Rand: stream}
}

// score returns the values that f gives the queries of in.
func score(t testing.TB, f acquisition.Function, in *acquisition.Input) []float64 {
	t.Helper()
	scores, _ := scorePair(t, f, in)
	return scores
}

func scorePair(t testing.TB, f acquisition.Function, in *acquisition.Input) ([]float64, acquisition.Pair) {
	t.Helper()
	dst := make([]float64, len(in.Table.Queries()))
	for i := range dst {
		dst[i] = math.NaN() // what is in dst must not matter
	}
	p := must.Get(f.Score(dst, in))(t)
	return dst, p
}

// choose returns the selection of f.
func choose(t testing.TB, f acquisition.Function, in *acquisition.Input) acquisition.Selection {
	t.Helper()
	s := must.Get(acquisition.Select(f, in))(t)
	return s
}

func TestUniform(t *testing.T) {
	stream := rng.New(1, "uniform", 0)
	m := probit(belief.Isotropic(3, 1))
	in := input(m, m.Prior(), random(3, 4, 5, idrl.CompareClips, stream), stream)
	if got := score(t, acquisition.Uniform{}, in); floats.Norm(got, 1) != 0 {
		t.Errorf("scores %v, want zeros", got)
	}
	counts := make([]float64, 5)
	const n = 20_000
	for range n {
		s := choose(t, acquisition.Uniform{}, in)
		if s.First != -1 || s.Second != -1 || s.PairStd != 0 || s.Info != 0 {
			t.Fatalf("%+v, want no pair", s)
		}
		counts[s.Query]++
	}
	for i, c := range counts {
		within(t, fmt.Sprintf("share of query %d", i), c/n, 0.2, 5*math.Sqrt(0.2*0.8/n))
	}
	in.Rand = nil
	if s := choose(t, acquisition.Uniform{}, in); s.Query != 0 {
		t.Errorf("without a stream query %d was taken, want the first of the ties", s.Query)
	}
}

// Pending questions shrink the covariance in any order, leave the mean, and a
// question that is open is worth less a second time. A table that anticipates
// them says the same as one of the belief that does.
func TestPending(t *testing.T) {
	stream := rng.New(2, "pending", 0)
	start := correlated(t, 5, stream)
	for _, kind := range []idrl.QueryKind{idrl.CompareClips, idrl.RateClip} {
		m := probit(start)
		g := random(5, 4, 12, kind, stream)
		s := choose(t, acquisition.IDRL{}, input(m, start, g, stream))
		open := []idrl.QueryVector{g.Queries[s.Query], g.Queries[(s.Query+1)%12]}
		p := m.ConditionOnPending(start, open...)
		if !floats.Equal(p.Mean(nil), start.Mean(nil)) {
			t.Errorf("%s: pending questions moved the mean", kind)
		}
		delta := difference(g, s.First, s.Second)
		if variance(p, delta) >= variance(start, delta) {
			t.Errorf("%s: pending questions left the variance of the pair", kind)
		}
		in := input(m, p, g, stream)
		if again := choose(t, acquisition.IDRL{}, in); again.Query == s.Query && again.Info >= s.Info {
			t.Errorf("%s: an open question is worth %v again, after %v", kind, again.Info, s.Info)
		}
		q := m.ConditionOnPending(start, open[1], open[0])
		if kind == idrl.RateClip {
			within(t, "variance, pending in another order", variance(q, delta), variance(p, delta), 1e-13)
		}
		if got := m.ConditionOnPending(start); got != idrl.Posterior(start) {
			t.Errorf("%s: without pending questions the belief changed", kind)
		}
		table := input(m, start, g, stream).Table
		for i, q := range open {
			table.ConditionOnPending(q, m.ConditionOnPending(start, open[:i+1]...))
		}
		same(t, table, in.Table, 1e-12)
	}
}

// scalar returns N(m, v) over one weight; v may be 0.
func scalar(t testing.TB, m, v float64) *belief.Gaussian {
	t.Helper()
	start := v
	if v == 0 {
		start = 1
	}
	g := must.Get(belief.NewGaussian([]float64{m}, mat.NewSymDense(1, []float64{start})))(t)
	if v == 0 {
		g = g.Condition([]float64{1}, 0, 1)
	}
	return g
}
