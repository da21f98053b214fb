package acquisition_test

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
)

// expectedVariance conditions p on every possible answer to q and returns the
// average variance of θ·δ. A Gaussian answer has infinitely many values; the
// variance after it is the same for all, so some stand for all.
func expectedVariance(t *testing.T, m belief.Model, p idrl.Posterior, q idrl.QueryVector, delta []float64) float64 {
	t.Helper()
	answers := []idrl.Answer{{Choice: idrl.ChoseA}, {Choice: idrl.ChoseB}, {Choice: idrl.Equal}}
	if !q.Kind.Comparison() {
		answers = []idrl.Answer{{Choice: idrl.Rated, Rating: -1}, {Choice: idrl.Rated, Rating: 0.2}, {Choice: idrl.Rated, Rating: 1}}
	}
	_, ternary := m.Likelihood(q.Query).(belief.Probit)
	u, v := idrl.Moments(p, q.X, p.Mean(nil), make([]float64, p.Dim()))
	var sum, total float64
	for _, a := range answers {
		after := must.Get(m.Condition(p, q, a))(t)
		prob := 1.0
		if ternary {
			logZ, _, _ := m.Likelihood(q.Query).LogZ(a, u, v)
			prob = math.Exp(logZ)
		}
		total += prob
		sum += prob * variance(after, delta)
	}
	if ternary {
		within(t, "sum of the answers' probabilities", total, 1, 1e-12)
	}
	return sum / total
}

// Both steps by brute force: every pair, and every query conditioned on every
// possible answer.
func TestScoreEqualsReconditioning(t *testing.T) {
	for n, test := range []struct {
		name string
		kind idrl.QueryKind
		like idrl.Likelihood
	}{
		{"probit", idrl.CompareClips, belief.Probit{NoiseStd: 0.5, TieBand: 0.1}},
		{"probit, wide band", idrl.CompareStates, belief.Probit{NoiseStd: 0.1, TieBand: 3}},
		{"paper", idrl.CompareClips, belief.PlusMinus{NoiseVar: belief.PaperNoiseVar}},
		{"rating", idrl.RateState, nil},
	} {
		for _, size := range []struct{ d, candidates, queries int }{{1, 2, 3}, {5, 6, 40}, {11, 20, 30}, {39, 6, 10}} {
			t.Run(fmt.Sprintf("%s/d=%d", test.name, size.d), func(t *testing.T) {
				stream := rng.New(uint64(n), "brute", uint64(size.d))
				p := correlated(t, size.d, stream)
				m := belief.Model{Start: p, Comparison: test.like, Rating: belief.Rating{NoiseVar: 0.05}}
				g := random(size.d, size.candidates, size.queries, test.kind, stream)
				bruteForce(t, m, p, g)
				after := must.Get(m.Condition(p, g.Queries[0], idrl.Answer{Choice: map[bool]idrl.Choice{true: idrl.ChoseA, false: idrl.Rated}[test.kind.Comparison()]}))(t)
				bruteForce(t, m, after, g)
			})
		}
	}
}

func bruteForce(t *testing.T, m belief.Model, p idrl.Posterior, g game) {
	t.Helper()
	var first, second int
	var widest float64
	for i := range g.Candidates {
		for j := i + 1; j < len(g.Candidates); j++ {
			if v := variance(p, difference(g, i, j)); v > widest {
				first, second, widest = i, j, v
			}
		}
	}
	delta := difference(g, first, second)
	in := input(m, p, g, rng.New(0, "tie", 0))
	scores := score(t, acquisition.IDRL{}, in)
	best, least := -1, math.Inf(1)
	for i, q := range g.Queries {
		after := expectedVariance(t, m, p, q, delta)
		within(t, "expected variance", widest-scores[i], after, 1e-9*widest)
		if after < least {
			best, least = i, after
		}
	}
	s := choose(t, acquisition.IDRL{}, in)
	if s.Query != best || s.First != first || s.Second != second {
		t.Errorf("selected %+v, want query %d for the pair %d, %d", s, best, first, second)
	}
	within(t, "standard deviation of the pair", s.PairStd, math.Sqrt(widest), 1e-9*math.Sqrt(widest))
	within(t, "information", s.Info, 0.5*math.Log(widest/least), 1e-9)
}

// A second derivation, of the paper's objective: for Gaussian answers the
// information is the entropy of the difference before less that after, and by
// its symmetry the entropy of the answer less that of the answer given the
// difference.
func TestInfoIsMutualInformation(t *testing.T) {
	stream := rng.New(7, "information", 0)
	p := correlated(t, 6, stream)
	m := probit(p)
	const noise = 0.3
	for range 20 {
		g := random(6, 2, 1, idrl.RateClip, stream)
		delta, x := difference(g, 0, 1), g.Queries[0].X
		work := make([]float64, 6)
		p.CovMul(work, x)
		cov, v := floats.Dot(delta, work), floats.Dot(x, work)
		given := v - cov*cov/variance(p, delta) // variance of θ·x given θ·δ
		want := 0.5 * math.Log((v+noise)/(given+noise))
		within(t, "information", choose(t, acquisition.IDRL{}, input(m, p, g, stream)).Info, want, 1e-12)
	}
}

// What one can see without computing.
func TestKnownChoices(t *testing.T) {
	m := probit(belief.Isotropic(2, 1))
	g := returns([]float64{0, 0}, []float64{1, 0}, []float64{0, 5})
	for _, x := range [][]float64{{1, 0}, {0, 1}, {0, 0}, {0.3, 0.3}} {
		g.Queries = append(g.Queries, idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateState}, X: x})
	}
	in := input(m, m.Prior(), g, rng.New(0, "tie", 0))
	s := choose(t, acquisition.IDRL{}, in)
	// δ = (1, −5); the second weight matters most, and δ's variance is 26.
	if s.First != 1 || s.Second != 2 || s.Query != 1 {
		t.Errorf("%+v, want candidates 1 and 2 and query 1", s)
	}
	within(t, "standard deviation", s.PairStd, math.Sqrt(26), 1e-14)
	within(t, "information", s.Info, -0.5*math.Log(1-25/1.3/26), 1e-14)
	scores := score(t, acquisition.IDRL{}, in)
	if want := []float64{1 / 1.3, 25 / 1.3, 0, 1.44 / 0.48}; !floats.EqualApprox(scores, want, 1e-14) {
		t.Errorf("scores %v, want %v", scores, want)
	}
}

func TestNothingToTellApart(t *testing.T) {
	m := probit(belief.Isotropic(2, 1))
	queries := random(2, 0, 4, idrl.CompareClips, rng.New(3, "queries", 0)).Queries
	for _, test := range []struct {
		name string
		g    game
	}{
		{"no candidate", returns()},
		{"one candidate", returns([]float64{1, 2})},
		{"equal candidates", returns([]float64{1, 2}, []float64{1, 2})},
	} {
		test.g.Queries = queries
		seen := map[int]bool{}
		stream := rng.New(3, "tie", 0)
		for range 200 {
			s := choose(t, acquisition.IDRL{}, input(m, m.Prior(), test.g, stream))
			if s.Info != 0 || s.PairStd != 0 || s.First >= 0 || s.Second >= 0 {
				t.Fatalf("%s: %+v", test.name, s)
			}
			seen[s.Query] = true
		}
		if len(seen) != len(queries) {
			t.Errorf("%s: only queries %v were drawn", test.name, seen)
		}
		test.g.Queries = nil
		for _, method := range acquisition.Methods() {
			in := input(m, m.Prior(), test.g, stream)
			in.Pool, in.Solve = weighted(test.g.Candidates), still
			if s := choose(t, method.New(false), in); s.Query != -1 {
				t.Errorf("%s: without queries %s selected %d", test.name, method.Name, s.Query)
			}
		}
	}
}

// Exact ties between pairs and between queries are broken uniformly, and
// without a tie the stream is not touched.
func TestTies(t *testing.T) {
	m := probit(belief.Isotropic(2, 1))
	// 0 equals 3 and 1 equals 2, so that four of the six pairs tie at variance 25.
	g := returns([]float64{0, 0}, []float64{3, 4}, []float64{3, 4}, []float64{0, 0})
	for _, x := range [][]float64{{1, 0}, {0, 1}, {0, -1}, {0, 1}} {
		g.Queries = append(g.Queries, idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips}, X: x})
	}
	stream := rng.New(4, "tie", 0)
	pairs, queries := map[[2]int]float64{}, map[int]float64{}
	const n = 20_000
	in := input(m, m.Prior(), g, stream)
	for range n {
		s := choose(t, acquisition.IDRL{}, in)
		pairs[[2]int{s.First, s.Second}]++
		queries[s.Query]++
	}
	for _, p := range [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}} {
		within(t, fmt.Sprintf("share of pair %v", p), pairs[p]/n, 0.25, 5*math.Sqrt(0.25*0.75/n))
	}
	for _, q := range []int{1, 2, 3} {
		within(t, fmt.Sprintf("share of query %d", q), queries[q]/n, 1.0/3, 5*math.Sqrt(2.0/9/n))
	}
	g.Queries = g.Queries[:2]
	g.Candidates = g.Candidates[:2]
	a, b := rng.New(5, "tie", 0), rng.New(5, "tie", 0)
	choose(t, acquisition.IDRL{}, input(m, m.Prior(), g, a))
	if a.Uint64() != b.Uint64() {
		t.Error("a selection without ties drew from the stream")
	}
}

// The constant that all candidates share must not drown what tells them apart.
func TestSharedPartOfTheReturns(t *testing.T) {
	p := belief.Isotropic(3, 1)
	m := probit(p)
	const shared = 1e6
	g := returns([]float64{shared, 0, 0}, []float64{shared, 1e-4, 0}, []float64{shared, 0, 3e-4}, []float64{shared, 1e-4, 3e-4})
	g.Queries = []idrl.QueryVector{{Query: idrl.Query{Kind: idrl.CompareClips}, X: []float64{0, 1, 0}}, {Query: idrl.Query{Kind: idrl.CompareClips}, X: []float64{0, 0, 1}}}
	s := choose(t, acquisition.IDRL{}, input(m, p, g, rng.New(6, "tie", 0)))
	if s.First+s.Second != 3 || s.Query != 1 {
		t.Errorf("%+v, want a diagonal and query 1", s)
	}
	within(t, "standard deviation", s.PairStd, math.Sqrt(10)*1e-4, 1e-17)
}

// Pairs whose variances are equal but for the rounding of the products tie: with
// equal candidates 1 and 3, and 2 and 4, the product of 1 and 2 is not that of 2
// and 3 to the last bit.
func TestTiesUnderRounding(t *testing.T) {
	stream := rng.New(12, "tie", 0)
	for d := 3; d < 20; d++ {
		p := correlated(t, d, stream)
		one, two := normals(d, stream), normals(d, stream)
		middle := floats.AddTo(make([]float64, d), one, two)
		floats.Scale(0.5, middle)
		g := returns(middle, one, two, one, two)
		g.Queries = random(d, 0, 1, idrl.CompareClips, stream).Queries
		in := input(probit(p), p, g, stream)
		drawn := map[[2]int]bool{}
		for range 100 {
			s := choose(t, acquisition.IDRL{}, in)
			drawn[[2]int{s.First, s.Second}] = true
		}
		if len(drawn) != 4 || drawn[[2]int{1, 3}] || drawn[[2]int{2, 4}] { // each is missed with probability 3e-13
			t.Errorf("d = %d: pairs %v were drawn, want 1 or 3 with 2 or 4", d, drawn)
		}
	}
}

// rounded is a belief in which rounding has left nothing, and less.
type rounded struct{ *belief.Gaussian }

func (rounded) CovMul(dst, x []float64) { floats.ScaleTo(dst, -1e-20, x) }

func TestRoundedToNothing(t *testing.T) {
	p := rounded{belief.Isotropic(2, 1)}
	g := random(2, 4, 3, idrl.CompareClips, rng.New(11, "g", 0))
	for _, f := range []acquisition.Function{acquisition.IDRL{}, acquisition.IDRL{Paper: true}, acquisition.TT{}, acquisition.ERR{}, acquisition.KG{}, acquisition.Leader{}} {
		got, pair := scorePair(t, f, input(probit(p.Gaussian), p, g, rng.New(11, "tie", 0)))
		if floats.Norm(got, 1) != 0 || pair.First >= 0 && pair.First == pair.Second {
			t.Errorf("%T gives %v about %+v", f, got, pair)
		}
	}
}

// Neither choosing by IDRL nor bringing a table up to date allocates, whatever
// the sizes.
func TestScoreAllocations(t *testing.T) {
	stream := rng.New(8, "allocations", 0)
	for _, size := range []struct{ d, candidates, queries int }{{5, 6, 10}, {5, 6, 1000}, {80, 100, 10}} {
		p := correlated(t, size.d, stream)
		m := probit(p)
		g := random(size.d, size.candidates, size.queries, idrl.CompareClips, stream)
		in := input(m, p, g, stream)
		dst := make([]float64, size.queries)
		f := acquisition.IDRL{}
		if n := testing.AllocsPerRun(20, func() { f.Score(dst, in) }); n > 0 {
			t.Errorf("%+v: a score makes %v allocations", size, n)
		}
		answer := idrl.Answer{Choice: idrl.ChoseB}
		if n := testing.AllocsPerRun(20, func() { in.Table.Condition(g.Queries[0], answer, p) }); n > 0 {
			t.Errorf("%+v: an answer makes %v allocations", size, n)
		}
	}
}

// Numbers that are not finite are the caller's mistake, and are not ranked.
func TestNotFinite(t *testing.T) {
	m := probit(belief.Isotropic(2, 1))
	for _, g := range []game{
		returns([]float64{0, math.NaN()}, []float64{1, 0}),
		returns([]float64{0, 1}, []float64{1, 0}, []float64{2, math.NaN()}),
		returns([]float64{0, 1}, []float64{1, math.Inf(1)}),
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: a candidate that is not a number was ranked", g.Candidates)
				}
			}()
			acquisition.IDRL{}.Score(nil, input(m, m.Prior(), g, nil))
		}()
	}
}

func TestScoreChecksItsDestination(t *testing.T) {
	m := probit(belief.Isotropic(2, 1))
	in := input(m, m.Prior(), random(2, 2, 3, idrl.CompareClips, rng.New(9, "g", 0)), nil)
	for _, method := range acquisition.Methods() {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took a destination of the wrong length", method.Name)
				}
			}()
			method.New(false).Score(make([]float64, 2), in)
		}()
	}
}
