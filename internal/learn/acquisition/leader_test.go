package acquisition_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// models are beliefs about answers: two choices, three, numbers for choices, and
// ratings.
var models = []struct {
	name string
	kind idrl.QueryKind
	like idrl.Likelihood
}{
	{"probit", idrl.CompareClips, belief.Probit{NoiseStd: 0.5}},
	{"probit with ties", idrl.CompareStates, belief.Probit{NoiseStd: 0.5, TieBand: 0.2}},
	{"paper", idrl.CompareClips, belief.PlusMinus{NoiseVar: 0.25}},
	{"rating", idrl.RateState, belief.Rating{NoiseVar: 0.05}},
	{"vague rating", idrl.RateState, belief.Rating{NoiseVar: 20}},
}

// eachModel runs f for every model with a random belief, policies and queries.
func eachModel(t *testing.T, f func(t *testing.T, m belief.Model, p *belief.Gaussian, g game)) {
	for n, test := range models {
		for _, size := range []struct{ d, policies, queries int }{{2, 3, 5}, {5, 12, 9}, {9, 30, 140}} {
			t.Run(fmt.Sprintf("%s/d=%d", test.name, size.d), func(t *testing.T) {
				stream := rng.New(uint64(40+n), "leader", uint64(size.d))
				p := correlated(t, size.d, stream)
				m := belief.Model{Start: p, Comparison: test.like, Rating: test.like}
				f(t, m, p, random(size.d, size.policies, size.queries, test.kind, stream))
			})
		}
	}
}

// means returns the mean returns of the policies of g and the first of the best.
func means(p idrl.Posterior, g game) (a []float64, leader int) {
	for _, c := range g.Candidates {
		a = append(a, floats.Dot(p.Mean(nil), c.Mu))
	}
	return a, floats.MaxIdx(a)
}

// sampled returns 256 draws of p and the best policy of g under each.
func sampled(p idrl.Posterior, g game, seed uint64) (draws [][]float64, best []int) {
	stream := rng.New(seed, "draws", 0)
	for range 256 {
		theta := p.Sample(nil, stream)
		k, most := 0, math.Inf(-1)
		for j, c := range g.Candidates {
			if r := floats.Dot(theta, c.Mu); r > most {
				k, most = j, r
			}
		}
		draws, best = append(draws, theta), append(best, k)
	}
	return draws, best
}

// LVAR is the expected reduction of Σ_j p_j Var(G_j − G_L), by conditioning on
// every answer.
func TestLVAR(t *testing.T) {
	eachModel(t, func(t *testing.T, m belief.Model, p *belief.Gaussian, g game) {
		_, leader := means(p, g)
		in := input(m, p, g, rng.New(1, "draws", 0))
		var best []int
		returns := in.Table.DrawReturns(256, rng.New(1, "draws", 0))
		for i := range returns.Rows {
			best = append(best, floats.MaxIdx(returns.Data[i*returns.Stride:i*returns.Stride+returns.Cols]))
		}
		in.Candidates = 1 // policies of an archive count too
		got, pair := scorePair(t, acquisition.LVAR{}, in)
		heaviest, most := -1, 0.0
		for j := range g.Candidates {
			if v := share(best, j) * variance(p, difference(g, j, leader)); v > most {
				heaviest, most = j, v
			}
		}
		if pair.First != leader || pair.Second != heaviest {
			t.Errorf("the values are about the pair %+v, want the leader %d and %d", pair, leader, heaviest)
		}
		for q := range min(20, len(got)) {
			var want float64
			for j := range g.Candidates {
				delta := difference(g, j, leader)
				want += share(best, j) * (variance(p, delta) - expectedVariance(t, m, p, g.Queries[q], delta))
			}
			within(t, "reduction", got[q], want, 1e-9*(1+want))
		}
	})
}

// The squares of the products with the directions add up to LVAR's value but for w_q, as the expected reduction of the
// variances says.
func TestDirections(t *testing.T) {
	eachModel(t, func(t *testing.T, m belief.Model, p *belief.Gaussian, g game) {
		c := acquisition.Directions(p, g.Candidates, rng.New(1, "draws", 0))
		want, _ := scorePair(t, acquisition.LVAR{}, input(m, p, g, rng.New(1, "draws", 0)))
		if c.Rows == 0 {
			t.Fatal("no direction, although several policies may be the best")
		}
		for q := range min(20, len(want)) {
			var sum float64
			for k := range c.Rows {
				d := floats.Dot(c.Data[k*c.Stride:][:c.Cols], g.Queries[q].X)
				sum += d * d
			}
			x := g.Queries[q].X
			reduction := variance(p, x) - expectedVariance(t, m, p, g.Queries[q], x) // (xᵀΣx)² w_q
			v := variance(p, x)
			within(t, "value", sum*reduction/(v*v), want[q], 1e-8*(1+want[q]))
		}
	})
}

// Draws of the returns have their mean and covariance, where policies are equal
// and where they are more than the features, too.
func TestDrawReturns(t *testing.T) {
	const draws = 50_000
	for _, size := range []struct{ d, policies int }{{4, 1}, {6, 4}, {3, 9}} {
		g := random(size.d, size.policies, 0, idrl.CompareClips, rng.New(7, "returns", uint64(size.d)))
		g.Candidates = append(g.Candidates, g.Candidates[size.policies-1]) // of return 0, if it is the first
		p := correlated(t, size.d, rng.New(8, "belief", uint64(size.d)))
		table := acquisition.NewTable(probit(p), p, nil)
		table.SetPolicies(g.Candidates)
		got := table.DrawReturns(draws, rng.New(9, "draws", 0))
		n := len(g.Candidates)
		column := func(j int) (out []float64) {
			for i := range draws {
				out = append(out, got.Data[i*got.Stride+j])
			}
			return out
		}
		a, _ := means(p, g)
		for j := range n {
			x := column(j)
			std := math.Sqrt(variance(p, difference(g, j, 0)))
			within(t, "mean", stat.Mean(x, nil), a[j]-a[0], 5*std/math.Sqrt(draws)+1e-12)
			for k := range j + 1 {
				cov := (variance(p, difference(g, j, 0)) + variance(p, difference(g, k, 0)) - variance(p, difference(g, j, k))) / 2
				within(t, "covariance", stat.Covariance(x, column(k), nil), cov, 5*2*std*math.Sqrt(variance(p, difference(g, k, 0))/draws)+1e-12)
			}
		}
		for i, x := range column(n - 1) {
			if y := got.Data[i*got.Stride+size.policies-1]; math.Abs(x-y) > 1e-6*(1+math.Abs(x)) {
				t.Fatalf("draw %d gives equal policies %v and %v", i, x, y)
			}
		}
	}
}

// share returns the share of best that is j.
func share(best []int, j int) float64 {
	n := 0.0
	for _, k := range best {
		if k == j {
			n++
		}
	}
	return n / float64(len(best))
}

// V-IDS from its formula, draw by draw.
func TestVIDS(t *testing.T) {
	eachModel(t, func(t *testing.T, m belief.Model, p *belief.Gaussian, g game) {
		draws, best := sampled(p, g, 2)
		in := input(m, p, g, rng.New(2, "draws", 0))
		got := score(t, acquisition.VIDS{}, in)
		mean := p.Mean(nil)
		for q, query := range g.Queries {
			var sum float64
			for k := range g.Candidates {
				var n, moved float64
				for i, theta := range draws {
					if best[i] == k {
						n++
						moved += floats.Dot(query.X, theta) - floats.Dot(query.X, mean)
					}
				}
				if n > 0 {
					sum += n / 256 * (moved / n) * (moved / n)
				}
			}
			u, v := idrl.Moments(p, query.X, mean, make([]float64, len(mean)))
			want := sum * m.Likelihood(query.Query).Info(u, v)
			within(t, "information on the best policy", got[q], want, 1e-11*(1+want))
		}
	})
}

// ERR by numerical integration under the covariance that is expected after the
// answer.
func TestERR(t *testing.T) {
	eachModel(t, func(t *testing.T, m belief.Model, p *belief.Gaussian, g game) {
		a, leader := means(p, g)
		bound := func(b idrl.Posterior) (sum float64) {
			for j := range g.Candidates {
				if j != leader {
					sum += integral(func(x float64) float64 { return max(0, x) }, a[j]-a[leader], variance(b, difference(g, j, leader)))
				}
			}
			return sum
		}
		now := bound(p)
		got := score(t, acquisition.ERR{}, input(m, p, g, nil))
		for q := range min(2, len(got)) {
			want := now - bound(m.ConditionOnPending(p, g.Queries[q]))
			within(t, "reduction of the bound", got[q], want, 1e-6*now) // Simpson's rule across a corner
		}
	})
}

// gained returns the expected mean return of the best policy after repeats answers
// to q, less the leader's now: averaged over the answers, or, if they are numbers
// or many, over their average, in which the means are linear.
func gained(t *testing.T, m belief.Model, p *belief.Gaussian, g game, q idrl.QueryVector, repeats int) float64 {
	t.Helper()
	a, leader := means(p, g)
	best := func(b idrl.Posterior) float64 {
		after, k := means(b, g)
		return after[k] - a[leader]
	}
	u, v := idrl.Moments(p, q.X, p.Mean(nil), make([]float64, p.Dim()))
	like := m.Likelihood(q.Query)
	if l, ok := like.(belief.Probit); ok && repeats == 1 {
		var sum float64
		for _, c := range []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal} {
			if c == idrl.Equal && l.TieBand == 0 {
				continue
			}
			answer := idrl.Answer{Choice: c}
			after := must.Get(m.Condition(p, q, answer))(t)
			logZ, _, _ := like.LogZ(answer, u, v)
			sum += math.Exp(logZ) * best(after)
		}
		return sum
	}
	noise := 1/like.Info(u, v) - v
	std := math.Sqrt(v + noise/float64(repeats)) // of the average of the answers
	moved := p
	for range repeats {
		moved = moved.ConditionOnValue(q.X, u+std, noise)
	}
	to, _ := means(moved, g)
	return integral(func(z float64) float64 {
		most := math.Inf(-1)
		for j := range a {
			most = max(most, a[j]+(to[j]-a[j])*z-a[leader])
		}
		return most
	}, 0, 1)
}

// KG by the mean returns after every answer, KG* by those after r equal ones.
// Where the fallback has set in no answer may be worth anything.
func TestKG(t *testing.T) {
	fallbacks := 0
	eachModel(t, func(t *testing.T, m belief.Model, p *belief.Gaussian, g game) {
		value := func(f acquisition.Function) []float64 {
			out := score(t, f, input(m, p, g, rng.New(4, "draws", 0)))
			if floats.Equal(out, score(t, acquisition.LVAR{}, input(m, p, g, rng.New(4, "draws", 0)))) {
				fallbacks++
				clear(out)
			}
			return out
		}
		got, star := value(acquisition.KG{}), value(acquisition.KG{Star: true})
		for q := range min(2, len(got)) {
			want := gained(t, m, p, g, g.Queries[q], 1)
			within(t, "knowledge gradient", got[q], want, 1e-7)
			for _, r := range []int{4, 16, 64} {
				want = max(want, gained(t, m, p, g, g.Queries[q], r)/float64(r))
			}
			within(t, "KG*", star[q], want, 1e-7)
		}
	})
	if fallbacks > 4 {
		t.Errorf("%d of 30 fell back, so that little was tested", fallbacks)
	}
}

// One policy lags by 1 with variance 1, and a rating of noise 64 says little of it:
// sixty-four take half of the variance away, and are worth h(−1, √½) = 0.0251 of
// them, more than sixteen, h(−1, √⅕)/16 = 1.2e-4, or fewer.
func TestKGStarByHand(t *testing.T) {
	p := scalar(t, -1, 1)
	m := belief.Model{Start: p, Rating: belief.Rating{NoiseVar: 64}}
	g := returns([]float64{0}, []float64{1})
	g.Queries = []idrl.QueryVector{{Query: idrl.Query{Kind: idrl.RateClip}, X: []float64{1}}}
	s := math.Sqrt(0.5)
	h := -normalCDF(-1/s) + s*math.Exp(-1)/math.Sqrt(2*math.Pi)
	within(t, "KG*", score(t, acquisition.KG{Star: true}, input(m, p, g, nil))[0], h/64, 1e-15)
}

// Where one answer changes no decision KG is LVAR, and so is KG* where no number
// of answers does; queries that tell nothing are worth nothing.
func TestKGFallback(t *testing.T) {
	p := must.Get(belief.NewGaussian([]float64{1, 0, 0}, mat.NewSymDense(3, []float64{1e-4, 0, 0, 0, 1, 0, 0, 0, 1})))(t)
	m := belief.Model{Start: p, Rating: belief.Rating{NoiseVar: 100}}
	g := returns([]float64{1, 0, 0}, []float64{0, 1, 0}, []float64{0, 0, 0.5})
	for _, x := range [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}} {
		g.Queries = append(g.Queries, idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateState}, X: x})
	}
	want := score(t, acquisition.LVAR{}, input(m, p, g, rng.New(3, "draws", 0)))
	if got := score(t, acquisition.KG{}, input(m, p, g, rng.New(3, "draws", 0))); !floats.Equal(got, want) || !(want[1] > 0) {
		t.Errorf("KG = %v, want LVAR's %v", got, want)
	}
	star := score(t, acquisition.KG{Star: true}, input(m, p, g, nil)) // needs no draws
	if !(star[1] > star[2] && star[2] > star[0] && star[3] == 0) {
		t.Errorf("KG* = %v", star)
	}
}

// h by hand, and the challenger that it makes.
func TestTT(t *testing.T) {
	diagonal := func(mean, variances []float64) *belief.Gaussian {
		cov := mat.NewSymDense(len(mean), nil)
		for i, v := range variances {
			cov.SetSym(i, i, v)
		}
		p := must.Get(belief.NewGaussian(mean, cov))(t)
		return p
	}
	queries := []idrl.QueryVector{
		{Query: idrl.Query{Kind: idrl.RateState}, X: []float64{1, 0, 0}}, {Query: idrl.Query{Kind: idrl.RateState}, X: []float64{0, 1, 0}}, {Query: idrl.Query{Kind: idrl.RateState}, X: []float64{0, 0, 1}},
	}
	for _, test := range []struct {
		name               string
		mean, vari         []float64
		leader, challenger int
	}{
		{"equal variances: the next best", []float64{1, 0.9, 0}, []float64{1, 1, 1}, 0, 1},
		// h(−0.1, √0.02) = 0.0200 and h(−1, √9.01) = 0.763
		{"a wide one behind", []float64{1, 0.9, 0}, []float64{0.01, 0.01, 9}, 0, 2},
		// h(−5, 3) = 0.0604 and h(−5, 3.5) = 0.105; the pair 1, 2 is the widest
		{"not the widest pair", []float64{5, 0, 0}, []float64{1e-6, 9, 12.25}, 0, 2},
		{"ties: the first", []float64{0, 0, 0}, []float64{1, 1, 1}, 0, 1},
		{"the leader last", []float64{-1, 0, 2}, []float64{1, 1, 1}, 2, 1},
	} {
		p := diagonal(test.mean, test.vari)
		m := belief.Model{Start: p, Rating: belief.Rating{NoiseVar: 0.5}}
		g := returns([]float64{1, 0, 0}, []float64{0, 1, 0}, []float64{0, 0, 1})
		g.Queries = queries
		in := input(m, p, g, nil)
		in.Candidates = 0 // all policies count
		got, pair := scorePair(t, acquisition.TT{}, in)
		if pair.First != test.leader || pair.Second != test.challenger {
			t.Errorf("%s: pair %+v, want %d and %d", test.name, pair, test.leader, test.challenger)
		}
		delta := difference(g, test.leader, test.challenger)
		within(t, test.name+": variance", pair.Var, variance(p, delta), 1e-14*pair.Var)
		for q := range queries {
			want := variance(p, delta) - expectedVariance(t, m, p, queries[q], delta)
			within(t, test.name+": value", got[q], want, 1e-9)
		}
	}
}

// Where the leader is sure to lead, or there is nobody else, TT and what falls
// back on it value nothing.
func TestNoRival(t *testing.T) {
	p := belief.Isotropic(2, 1)
	m := probit(p)
	for name, g := range map[string]game{
		"no policy": returns(), "one policy": returns([]float64{1, 2}), "equal policies": returns([]float64{1, 2}, []float64{1, 2}),
	} {
		g.Queries = random(2, 0, 3, idrl.CompareClips, rng.New(41, "queries", 0)).Queries
		for _, f := range []acquisition.Function{
			acquisition.TT{}, acquisition.LVAR{}, acquisition.VIDS{}, acquisition.ERR{}, acquisition.KG{}, acquisition.KG{Star: true}, acquisition.Leader{},
		} {
			got, pair := scorePair(t, f, input(m, p, g, rng.New(41, "draws", 0)))
			if floats.Norm(got, 1) != 0 || pair.First != -1 || pair.Second != -1 {
				t.Errorf("%s: %T gives %v about %+v", name, f, got, pair)
			}
		}
	}
}

// If the leader is the best under every draw LVAR and V-IDS have nothing to weigh,
// and TT's challenger is asked about.
func TestPlausibleFallback(t *testing.T) {
	p := must.Get(belief.NewGaussian([]float64{10, 0}, mat.NewSymDense(2, []float64{1, 0, 0, 1})))(t)
	m := probit(p)
	g := returns([]float64{1, 0}, []float64{0, 1}, []float64{0.2, 0})
	g.Queries = random(2, 0, 6, idrl.CompareClips, rng.New(42, "queries", 0)).Queries
	want, pair := scorePair(t, acquisition.TT{}, input(m, p, g, nil))
	for _, f := range []acquisition.Function{acquisition.LVAR{}, acquisition.VIDS{}} {
		got, about := scorePair(t, f, input(m, p, g, rng.New(42, "draws", 0)))
		if !floats.Equal(got, want) || about.First != pair.First || about.Second != pair.Second || about.Var != pair.Var || pair.First != 0 {
			t.Errorf("%T gives %v about %+v, want %v about %+v", f, got, about, want, pair)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("draws were made without a stream")
		}
	}()
	acquisition.LVAR{}.Score(make([]float64, 6), input(m, p, g, nil))
}

// The reason of LVAR is about what was valued. Policy 1 has by far the largest term
// before the answer, but the only queries there are tell nothing of it.
func TestLVARNamesWhatItAsksAbout(t *testing.T) {
	m := belief.Model{Start: belief.Isotropic(3, 1), Rating: belief.Rating{NoiseVar: 0.5}}
	g := returns([]float64{0, 0, 0}, []float64{3, 0, 0}, []float64{0, 1, 0})
	second, third := idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateState}, X: []float64{0, 1, 0}}, idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateState}, X: []float64{0, 0, 1}}

	g.Queries = []idrl.QueryVector{third, second}
	got := choose(t, acquisition.LVAR{}, input(m, m.Start, g, rng.New(43, "draws", 0)))
	if got.Query != 1 || got.First != 0 || got.Second != 2 || got.Rivals != 2 || got.PairStd != 1 || !(got.Info > 0) {
		t.Errorf("%+v, want query 1, about the leader 0 and policy 2 of 2 rivals, with information", got)
	}
	// The variance of the difference of 0 and 2 falls from 1 to 1/(1 + 1/0.5), that of 0
	// and 1 stays at 9; so the information lies between none and that about the former.
	if most := -0.5 * math.Log(1.0/3); !(got.Info < most) {
		t.Errorf("information %v about all differences, want less than %v about one", got.Info, most)
	}

	g.Queries = []idrl.QueryVector{third, third}
	got = choose(t, acquisition.LVAR{}, input(m, m.Start, g, rng.New(43, "draws", 0)))
	if want := (acquisition.Selection{Query: got.Query, First: -1, Second: -1}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v where no query tells anything, want %+v", got, want)
	}
}

// The parts of a question's value: rivals that are as probably the best have parts as the
// squares of their covariances with the answer, and all parts make the whole.
func TestSharesOfRivals(t *testing.T) {
	m := belief.Model{Start: belief.Isotropic(3, 1), Rating: belief.Rating{NoiseVar: 0.5}}
	g := returns([]float64{0, 0, 0}, []float64{1, 0, 0}, []float64{0, 1, 0}, []float64{0, 0, 1})
	g.Queries = []idrl.QueryVector{{Query: idrl.Query{Kind: idrl.RateState}, X: []float64{1, 2, 0}}}
	got := choose(t, acquisition.LVAR{}, input(m, m.Start, g, rng.New(44, "draws", 0)))
	large, small := got.Shares[0], got.Shares[1]
	if large.Policy != 2 || small.Policy != 1 || got.Second != 2 || got.Rivals != 3 || math.Abs(large.Part+small.Part-1) > 1e-12 {
		t.Fatalf("%+v, want all of it about policies 2 and 1", got)
	}
	// Each of the three rivals is the best in 7/24 of draws of three standard normal numbers
	// and 0; the share of 256 draws has a standard deviation of 0.028, and their ratio of 0.16.
	if ratio := large.Part / small.Part; ratio < 4*0.6 || ratio > 4*1.7 {
		t.Errorf("parts %v and %v, want about 4 to 1", large.Part, small.Part)
	}
	if got.Shares[2] != (acquisition.Share{}) {
		t.Errorf("a rival of which the answer tells nothing has %+v", got.Shares[2])
	}
	tt := choose(t, acquisition.TT{}, input(m, m.Start, g, nil))
	if tt.Shares[0] != (acquisition.Share{Policy: tt.Second, Part: 1}) || tt.Shares[1].Part != 0 {
		t.Errorf("TT, which is about one pair, gives %+v", tt)
	}
}

// EUBO against 100,000 draws.
func TestEUBO(t *testing.T) {
	const d, n, draws = 3, 5, 100_000
	policies, queries := pool(d, n, 43)
	p := correlated(t, d, rng.New(43, "belief", 0))
	in := input(probit(p), p, game{Queries: queries}, nil)
	in.Pool = policies
	got := score(t, acquisition.EUBO{}, in)
	sum, squares := make([]float64, len(queries)), make([]float64, len(queries))
	stream := rng.New(43, "draws", 0)
	theta, g := make([]float64, d), make([]float64, n)
	for range draws {
		p.Sample(theta, stream)
		for i := range g {
			g[i] = floats.Dot(theta, policies[i].Mu)
		}
		for q, query := range queries {
			x := max(g[query.Clips[0][0]-'a'], g[query.Clips[1][0]-'a'])
			sum[q] += x
			squares[q] += x * x
		}
	}
	for q := range queries {
		mean := sum[q] / draws
		within(t, "expected return of the better", got[q], mean, 5*math.Sqrt((squares[q]/draws-mean*mean)/draws))
	}
}

// With two candidates the leader against the other is IDRL; with more it is the
// first that differs from the leader.
func TestLeader(t *testing.T) {
	stream := rng.New(44, "leader", 0)
	p := correlated(t, 4, stream)
	m := probit(p)
	g := random(4, 2, 20, idrl.CompareClips, stream)
	got, pair := scorePair(t, acquisition.Leader{}, input(m, p, g, nil))
	if want := score(t, acquisition.IDRL{}, input(m, p, g, nil)); !floats.EqualApprox(got, want, 1e-14) {
		t.Errorf("two candidates: %v, want IDRL's %v", got, want)
	}
	if _, leader := means(p, g); pair.First != leader || pair.Second != 1-leader {
		t.Errorf("pair %+v, want the leader %d and the other", pair, leader)
	}
	g.Candidates = append([]idrl.Candidate{g.Candidates[pair.First], g.Candidates[pair.First]}, g.Candidates[pair.Second], idrl.Candidate{Mu: normals(4, stream)})
	in := input(m, p, g, nil)
	in.Candidates = 3 // the last is of an archive
	if _, pair := scorePair(t, acquisition.Leader{}, in); pair.First != 0 || pair.Second != 2 {
		t.Errorf("pair %+v, want the first and the first that differs from it", pair)
	}
}

// Select passes over queries that cannot be the best, and finds the same one.
func TestSelectIsArgmax(t *testing.T) {
	eachModel(t, func(t *testing.T, m belief.Model, p *belief.Gaussian, g game) {
		for _, method := range acquisition.Methods() {
			if method.Fits(g.Queries[0].Kind, false) != nil || method.Name == "epd" || method.Name == "uniform" {
				continue
			}
			for _, paper := range []bool{false, true} {
				scores := score(t, method.New(paper), input(m, p, g, rng.New(5, "draws", 0)))
				s := choose(t, method.New(paper), input(m, p, g, rng.New(5, "draws", 0)))
				if scores[s.Query] != floats.Max(scores) && method.Name != "eir" && method.Name != "pi" { // which ties before a rating
					t.Errorf("%s, paper %v: selected query %d of value %v, but the highest is %v", method.Name, paper, s.Query, scores[s.Query], floats.Max(scores))
				}
			}
		}
	})
}
