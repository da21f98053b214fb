package acquisition_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// weighted gives every policy the weights of its own feature expectation and a
// clip of its own.
func weighted(policies []idrl.Candidate) []idrl.Candidate {
	out := slices.Clone(policies)
	for i := range out {
		out[i].Theta, out[i].Clip = out[i].Mu, clip(i)
	}
	return out
}

// clip is the clip of policy i of a pool.
func clip(i int) idrl.ClipID { return idrl.ClipID(rune('a' + i)) }

// still solves for the same policy whatever the reward.
func still([]float64) ([]float64, error) { return []float64{1}, nil }

// reanswer returns an answer to q at random.
func reanswer(q idrl.QueryVector, stream *rand.Rand) idrl.Answer {
	if q.Kind.Comparison() {
		return idrl.Answer{Choice: []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal, idrl.CantTell}[stream.IntN(4)]}
	}
	return idrl.Answer{Choice: idrl.Rated, Rating: 2*stream.Float64() - 1}
}

// same compares what two tables hold. A product of x and y may differ by tol
// times the standard deviations of both, and a mean by tol times one or itself.
func same(t *testing.T, got, want *acquisition.Table, tol float64) {
	t.Helper()
	std := make([]float64, len(want.Queries()))
	for q := range std {
		std[q] = math.Sqrt(want.Vars()[q])
		within(t, "mean", got.Means()[q], want.Means()[q], tol*(std[q]+math.Abs(want.Means()[q])))
		within(t, "variance", got.Vars()[q], want.Vars()[q], tol*want.Vars()[q])
		within(t, "information factor", got.Infos()[q], want.Infos()[q], tol*want.Infos()[q])
	}
	policies := want.Policies()
	for i := range policies {
		for j := range i {
			spread := variance(want.Belief(), floats.SubTo(make([]float64, want.Belief().Dim()), policies[i].Mu, policies[j].Mu))
			within(t, "variance of a pair", acquisition.Spread(got, i, j), spread, tol*spread)
		}
	}
}

// After many answers the products are those of a table made from scratch.
func TestTableKeepsUp(t *testing.T) {
	for _, d := range []int{1, 3, 11, 39} {
		stream := rng.New(20, "table", uint64(d))
		p := idrl.Posterior(correlated(t, d, stream))
		m := belief.Model{Comparison: belief.Probit{NoiseStd: 2, TieBand: 0.5}, Rating: belief.Rating{NoiseVar: 1}}
		g := random(d, 7, 30, idrl.CompareClips, stream)
		g.Queries = append(g.Queries, random(d, 0, 31, idrl.RateState, stream).Queries...)
		table := input(m, p, g, nil).Table
		for range 200 {
			table.Infos() // which must not outlive the answer
			q := g.Queries[stream.IntN(len(g.Queries))]
			a := reanswer(q, stream)
			next := must.Get(m.Condition(p, q, a))(t)
			table.Condition(q, a, next)
			p = next
		}
		if table.Belief() != p {
			t.Error("the belief is not the last one")
		}
		same(t, table, input(m, p, g, nil).Table, 1e-9)
	}
}

func TestCloneIsIndependent(t *testing.T) {
	stream := rng.New(21, "clone", 0)
	p := correlated(t, 4, stream)
	m := probit(p)
	g := random(4, 5, 9, idrl.CompareClips, stream)
	table := input(m, p, g, nil).Table
	clone := table.Clone()
	a := idrl.Answer{Choice: idrl.ChoseA}
	next := must.Get(m.Condition(p, g.Queries[3], a))(t)
	clone.Condition(g.Queries[3], a, next)
	clone.SetPolicies(g.Candidates[:3])
	same(t, table, input(m, p, g, nil).Table, 1e-15) // as made
	g.Candidates = g.Candidates[:3]
	same(t, clone, input(m, next, g, nil).Table, 1e-12)
}

func TestCov(t *testing.T) {
	stream := rng.New(22, "cov", 0)
	const d, rows = 6, 3
	p := correlated(t, d, stream)
	for _, queries := range []int{1, 4, 127, 128, 129, 300} { // around the size of a block
		g := random(d, 0, queries, idrl.RateClip, stream)
		table := acquisition.NewTable(probit(p), p, g.Queries)
		deltas := blas64.General{Rows: rows, Cols: d, Stride: d, Data: normals(rows*d, stream)}
		all := blas64.General{Rows: rows, Cols: queries, Stride: queries, Data: make([]float64, rows*queries)}
		table.CovAll(all, deltas)
		one, work := make([]float64, queries), make([]float64, d)
		for k := range rows {
			delta := deltas.Data[k*d : (k+1)*d]
			table.Cov(one, delta)
			p.CovMul(work, delta)
			for q := range one {
				within(t, "covariance", one[q], floats.Dot(work, g.Queries[q].X), 1e-13)
				within(t, "covariance of several", all.Data[k*queries+q], one[q], 1e-13)
			}
		}
	}
}

// Equal queries and equal policies have equal products, wherever they stand, so
// that they tie after any number of answers.
func TestEqualRowsHaveEqualBits(t *testing.T) {
	for _, d := range []int{1, 3, 5, 7, 11, 39} {
		stream := rng.New(23, "bits", uint64(d))
		p := correlated(t, d, stream)
		m := probit(p)
		x, far := normals(d, stream), normals(d, stream)
		var g game
		for i := range 67 {
			sign := float64(1 - 2*(i%2))
			y := make([]float64, d)
			floats.ScaleTo(y, sign, x)
			g.Queries = append(g.Queries, idrl.QueryVector{Query: idrl.Query{Kind: idrl.RateClip}, X: y})
			g.Candidates = append(g.Candidates, idrl.Candidate{Mu: x})
		}
		g.Candidates[0].Mu = far
		in := input(m, p, g, nil)
		for range 5 {
			a := idrl.Answer{Choice: idrl.Rated, Rating: 0.3}
			next := must.Get(m.Condition(in.Table.Belief(), g.Queries[1], a))(t)
			in.Table.Condition(g.Queries[1], a, next)
		}
		for _, f := range []acquisition.Function{acquisition.IDRL{}, acquisition.IGR{}, acquisition.TT{}, acquisition.ERR{}} {
			scores := score(t, f, in)
			for q, s := range scores {
				if s != scores[0] {
					t.Fatalf("d = %d, %T: query %d has %v and query 0 %v", d, f, q, s, scores[0])
				}
			}
		}
		for i := range g.Candidates {
			if got, want := acquisition.Spread(in.Table, 0, i), acquisition.Spread(in.Table, 0, 1); i > 0 && got != want {
				t.Fatalf("d = %d: policy %d differs from the first by variance %v, an equal one by %v", d, i, got, want)
			}
		}
	}
}
