package learning_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
)

const dim = 3

func method(t *testing.T, name string) acquisition.Method {
	t.Helper()
	m := must.Get(acquisition.Find(name))(t)
	return m
}

// model has ratings with Gaussian noise of variance ¼, whose update is exact.
func model() belief.Model {
	return belief.Model{Start: belief.Isotropic(dim, 1), Rating: belief.Rating{NoiseVar: 0.25}, OffScale: true}
}

func vector(stream *rand.Rand) []float64 {
	out := make([]float64, dim)
	for i := range out {
		out[i] = stream.NormFloat64()
	}
	return out
}

func ratings(n int, stream *rand.Rand) (out []idrl.QueryVector) {
	for i := range n {
		out = append(out, idrl.QueryVector{Query: idrl.Query{ID: idrl.QueryID(fmt.Sprint("q", i)), Kind: idrl.RateClip}, X: vector(stream)})
	}
	return out
}

func candidates(n int, first int, stream *rand.Rand) (out []idrl.Candidate) {
	for k := range n {
		c := idrl.Candidate{ID: idrl.PolicyID(fmt.Sprint("p", first+k)), Origin: idrl.FromSample, Mu: vector(stream)}
		if k == n-1 {
			c.Origin = idrl.FromMean
		}
		out = append(out, c)
	}
	return out
}

func rated(y float64) idrl.Answer { return idrl.Answer{Choice: idrl.Rated, Rating: y} }

// The posterior after ratings is that of Bayesian linear regression: with one feature
// asked about n times, a mean of Σy/(n + ¼) and a variance of 1/(1 + 4n).
func TestObserveIsBayesianRegression(t *testing.T) {
	l := learning.New(learning.Config{Model: model(), Method: method(t, "uniform")})
	x := []float64{0, 1, 0}
	sum := 0.0
	for n, y := range []float64{0.5, -2, 1.25, 3} {
		q := idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateClip}, X: x}
		must.Do(t, l.Observe(q, rated(y)))
		sum += y
		mean, v := idrl.Moments(l.Posterior(), x, l.Posterior().Mean(nil), make([]float64, dim))
		k := float64(n + 1)
		if math.Abs(mean-sum/(k+0.25)) > 1e-12 || math.Abs(v-1/(1+4*k)) > 1e-12 {
			t.Errorf("after %d ratings mean %v and variance %v, want %v and %v", n+1, mean, v, sum/(k+0.25), 1/(1+4*k))
		}
	}
	if err := l.Observe(idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateClip}, X: x}, idrl.Answer{Choice: idrl.ChoseA}); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a choice in answer to a rating: %v", err)
	}
}

// What the methods look at, by what they declare.
func TestLook(t *testing.T) {
	for name, want := range map[string][]string{
		"uniform": nil, "igr": nil,
		"idrl":   {"p6", "p7", "p8", "p9", "p10"}, // Thompson samples
		"leader": {"p6", "p7", "p8", "p9", "p10", "p11"},
		"lvar":   {"p6", "p7", "p8", "p9", "p10", "p11", "p100", "p101", "p0", "p1", "p2", "p3", "p4", "p5"},
	} {
		stream := rng.New(1, "test", 0)
		var seen []string
		m := method(t, name)
		m.New = func(bool) acquisition.Function { return spy{&seen} }
		l := learning.New(learning.Config{Model: model(), Method: m, Schedule: learning.Live()})
		l.Adopt(candidates(2, 100, stream), candidates(6, 0, stream))
		l.Adopt(nil, candidates(6, 6, stream))
		must.Get(l.Choose(learning.Question{Askable: ratings(4, stream)}, stream))(t)
		if !slices.Equal(seen, want) {
			t.Errorf("%s looks at %v, want %v", name, seen, want)
		}
	}
}

// spy notes the policies that it is given.
type spy struct{ seen *[]string }

func (f spy) Score(_ []float64, in *acquisition.Input) (acquisition.Pair, error) {
	for _, c := range in.Table.Policies() {
		*f.seen = append(*f.seen, string(c.ID))
	}
	return acquisition.Pair{First: -1, Second: -1}, nil
}

// IDRL asks the query that takes the most variance from the difference of the two
// candidates whose returns differ most uncertainly; with a prior N(0, I) and ratings
// that is max_q (δ·x)²/(‖x‖² + ¼).
func TestChoiceOfIDRL(t *testing.T) {
	stream := rng.New(2, "test", 0)
	for range 20 {
		qs, cs := ratings(30, stream), candidates(6, 0, stream)
		l := learning.New(learning.Config{Model: model(), Method: method(t, "idrl")})
		l.Adopt(nil, cs)
		got := must.Get(l.Choose(learning.Question{Askable: qs}, stream))(t)
		first, second, widest := 0, 0, 0.0
		for i := range 5 { // the sixth is optimal for the mean
			for j := range i {
				if d := floats.Distance(cs[i].Mu, cs[j].Mu, 2); d > widest {
					first, second, widest = j, i, d
				}
			}
		}
		best, most := 0, 0.0
		for k, q := range qs {
			d := floats.Dot(q.X, cs[first].Mu) - floats.Dot(q.X, cs[second].Mu)
			if v := d * d / (floats.Dot(q.X, q.X) + 0.25); v > most {
				best, most = k, v
			}
		}
		if got.Query != best || got.FirstID != cs[first].ID || got.SecondID != cs[second].ID {
			t.Errorf("query %d about %s and %s; want %d about %s and %s", got.Query, got.FirstID, got.SecondID, best, cs[first].ID, cs[second].ID)
		}
	}
}

// The probabilities to be the best that go with a choice are those of the posterior by which
// it was chosen: as many draws say, and with policies that count as one taken together.
func TestChances(t *testing.T) {
	stream, draws := rng.New(12, "test", 0), rng.New(12, "draws", 0)
	told := 0
	for n := range 20 {
		cs := candidates(6, 0, stream)
		twin := cs[2]
		twin.ID = "twin"
		cs = append(cs, twin)
		l := learning.New(learning.Config{Model: model(), Method: method(t, "lvar")})
		l.Adopt(nil, cs)
		qs := ratings(30, stream)
		for k := range n % 4 {
			must.Do(t, l.Observe(qs[k], rated(stream.NormFloat64())))
		}
		got := must.Get(l.Choose(learning.Question{Askable: qs[4:]}, stream))(t)
		best := map[idrl.PolicyID]float64{}
		const of = 20_000
		for range of {
			theta := l.Posterior().Sample(nil, draws)
			most := slices.MaxFunc(cs[:6], func(a, b idrl.Candidate) int { return cmp.Compare(floats.Dot(theta, a.Mu), floats.Dot(theta, b.Mu)) })
			best[most.ID] += 1. / of
		}
		best["twin"] = best[cs[2].ID]
		check := func(id idrl.PolicyID, c record.Chance) {
			p, known := c.P()
			if sd := math.Sqrt(best[id] * (1 - best[id]) / 256); !known || math.Abs(p-best[id]) > 4*sd+0.005 {
				t.Errorf("policy %s is the best with %v (known: %v), many draws say %v", id, p, known, best[id])
			}
			told++
		}
		check(got.FirstID, got.Best[0])
		for i, s := range got.ShareIDs {
			if s.Policy != "" {
				check(s.Policy, got.Best[1+i])
			} else if got.Best[1+i] != 0 {
				t.Errorf("a probability %v of nothing", got.Best[1+i])
			}
		}
	}
	if told < 60 {
		t.Errorf("%d probabilities were told", told)
	}
	l := learning.New(learning.Config{Model: model(), Method: method(t, "tt")})
	l.Adopt(nil, candidates(6, 0, stream))
	if c, err := l.Choose(learning.Question{Askable: ratings(5, stream)}, stream); err != nil || c.FirstID == "" || c.Best[0] != 0 {
		t.Errorf("a function that draws nothing tells %v, %v", c.Best, err)
	}
}

// Queries that are pending count as answered: the same choice as with a rating whose
// value is its mean.
func TestPending(t *testing.T) {
	stream := rng.New(3, "test", 0)
	qs, cs := ratings(30, stream), candidates(6, 0, stream)
	made := func() *learning.Learner {
		l := learning.New(learning.Config{Model: model(), Method: method(t, "idrl")})
		l.Adopt(nil, cs)
		return l
	}
	ask := func(l *learning.Learner, pending ...idrl.QueryVector) int {
		c := must.Get(l.Choose(learning.Question{Askable: qs, Pending: pending}, rng.New(1, "tie", 0)))(t)
		return c.Query
	}
	l := made()
	first := ask(l)
	second := ask(l, qs[first])
	answered := made()
	must.Do(t, answered.Observe(qs[first], rated(0)))
	if want := ask(answered); second != want || second == first {
		t.Errorf("first %d, then %d while that is pending, want %d", first, second, want)
	}
}

// A fixed list of queries gives the choices that the same list gives when it is handed
// over each time.
func TestFixedQueries(t *testing.T) {
	stream := rng.New(4, "test", 0)
	qs := ratings(40, stream)
	fixed := learning.New(learning.Config{Model: model(), Method: method(t, "lvar"), Queries: qs})
	given := learning.New(learning.Config{Model: model(), Method: method(t, "lvar")})
	for n := range 10 {
		cs := candidates(6, 6*n, stream)
		fixed.Adopt(nil, cs)
		given.Adopt(nil, cs)
		a := must.Get(fixed.Choose(learning.Question{}, rng.New(1, "choose", uint64(n))))(t)
		b := must.Get(given.Choose(learning.Question{Askable: qs}, rng.New(1, "choose", uint64(n))))(t)
		if a.Query != b.Query || a.FirstID != b.FirstID || math.Abs(a.Info-b.Info) > 1e-9 {
			t.Fatalf("choice %d: %+v of a fixed list, %+v of the same list", n, a, b)
		}
		for _, l := range []*learning.Learner{fixed, given} {
			must.Do(t, l.Observe(qs[a.Query], rated(float64(n%3)-1)))
		}
	}
}

// Some methods value queries by the posterior that policies are solved for, where that
// is another one.
func TestTwoPosteriors(t *testing.T) {
	for _, m := range acquisition.Methods() {
		stream := rng.New(5, "test", 0)
		qs, seen := ratings(3, stream), idrl.Posterior(nil)
		m.New = func(bool) acquisition.Function { return witness{&seen} }
		l := learning.New(learning.Config{Model: model(), Method: m, Queries: qs, Solving: belief.Isotropic(dim, 9)})
		must.Do(t, l.Observe(qs[0], rated(1)))
		must.Get(l.Choose(learning.Question{}, stream))(t)
		want := l.Posterior()
		if m.Needs.Solving {
			want = l.Solving()
		}
		if seen != want || l.Posterior() == l.Solving() {
			t.Errorf("%s values queries by the wrong posterior", m.Name)
		}
	}
}

// witness notes the posterior of the table.
type witness struct{ seen *idrl.Posterior }

func (f witness) Score(_ []float64, in *acquisition.Input) (acquisition.Pair, error) {
	*f.seen = in.Table.Belief()
	return acquisition.Pair{First: -1, Second: -1}, nil
}

// The recommended policy is the one with the highest mean return of all that are known,
// whether it is a candidate, of the pool, or of the past.
func TestRecommend(t *testing.T) {
	policy := func(id string, mu ...float64) idrl.Candidate { return idrl.Candidate{ID: idrl.PolicyID(id), Mu: mu} }
	pool := []idrl.Candidate{policy("pool", 0, 5, 0)}
	first := []idrl.Candidate{policy("old", 5, 0, 0), policy("other", 0, 0, 1)}
	now := []idrl.Candidate{policy("now", 0, 0, 5), policy("last", 1, 1, 1)}
	for want, theta := range map[idrl.PolicyID][]float64{
		"now": {0, 0, 1}, "pool": {0, 1, 0}, "old": {1, 0, 0},
		"other": {-1, -1, -1}, // the least bad
	} {
		l := learning.New(learning.Config{Model: model(), Method: method(t, "idrl"), Schedule: learning.Live()})
		if got := l.Recommend().ID; got != "" {
			t.Errorf("%q is recommended before any policy is known", got)
		}
		l.Adopt(pool, first)
		l.Adopt(pool, now)
		for i, y := range theta {
			x := make([]float64, dim)
			x[i] = 1
			must.Do(t, l.Observe(idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateClip}, X: x}, rated(y)))
		}
		if got := l.Recommend(); got.ID != want {
			t.Errorf("for weights along %v %s is recommended, want %s", theta, got.ID, want)
		}
	}
}

// A duel solves for the mean and then for draws until one differs; the others for all
// draws first.
func TestThompson(t *testing.T) {
	p := model().Start
	for _, test := range []struct {
		need    acquisition.Candidates
		differs int // the first draw that does
		want    string
	}{
		{acquisition.Samples, 0, "0s 1s 2s 3s 4s "},
		{acquisition.SamplesAndMean, 0, "0s 1s 2s 3s 4s 5m "},
		{acquisition.Duel, 1, "0m 1s "},
		{acquisition.Duel, 3, "0m 1s 2s 3s "},
		{acquisition.Duel, 99, "0m 1s 2s 3s 4s 5s "},
	} {
		got, draws := "", rng.New(1, "thompson", 0)
		err := learning.Thompson(test.need, 5, p, rng.New(1, "thompson", 0), func(k int, theta []float64, origin idrl.Origin) (bool, error) {
			got += fmt.Sprintf("%d%c ", k, origin[0])
			want := p.Mean(nil)
			if origin == idrl.FromSample {
				want = p.Sample(nil, draws)
			}
			if !slices.Equal(theta, want) {
				t.Errorf("candidate %d is solved for %v, want %v", k, theta, want)
			}
			return k >= test.differs, nil
		})
		if err != nil || got != test.want {
			t.Errorf("%v: %q, %v; want %q", test.need, got, err, test.want)
		}
		fail := fmt.Errorf("no optimum")
		if err := learning.Thompson(test.need, 5, p, draws, func(int, []float64, idrl.Origin) (bool, error) { return false, fail }); !errors.Is(err, fail) {
			t.Errorf("error %v", err)
		}
	}
}

// A choice costs no memory that grows with the number of queries.
func TestChoiceAllocates(t *testing.T) {
	allocs := func(n int) float64 {
		stream := rng.New(6, "test", 0)
		qs := ratings(n, stream)
		l := learning.New(learning.Config{Model: model(), Method: method(t, "lvar")})
		l.Adopt(nil, candidates(6, 0, stream))
		return testing.AllocsPerRun(20, func() {
			must.Get(l.Choose(learning.Question{Askable: qs}, stream))(t)
		})
	}
	if few, many := allocs(10), allocs(2000); many > few+2 || many > 40 {
		t.Errorf("%v allocations of 10 queries and %v of 2,000", few, many)
	}
}
