package acquisition

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// samples is the number of posterior draws that estimate the probability of each policy to
// be the best. Source: docs/methods.md, section 1.3.
const samples = 256

// returns returns a_i − a_0 of every policy.
func (t *Table) returns() []float64 {
	multiply(t.g, t.a, t.belief.Mean(t.x))
	return slices.Clone(t.g[:len(t.policies)])
}

// Leader returns the index of the policy with the greatest expected return: the
// first of equals. There must be a policy.
func (t *Table) Leader() int { return floats.MaxIdx(t.returns()) }

// DrawReturns returns n draws of the returns of the policies under the belief, each
// less that of the first policy: draws by rows, policies by columns, valid until the
// next call. n is even: each second draw mirrors the one before about the mean, so that means of the draws
// are exact where they are linear in θ. There must be a policy. The cost of a draw is half of that of one
// of θ in as many dimensions as the returns have, after O(P³) for all.
func (t *Table) DrawReturns(n int, stream *rand.Rand) blas64.General {
	if stream == nil {
		panic("acquisition: a function that samples needs Input.Rand")
	}
	p := len(t.policies)
	mean := t.returns()
	t.factor.Factorize(mat.NewSymDense(p, t.gram.Data[:p*p]), -1) // PᵀΓP = UᵀU
	u := t.factor.RawU().(*mat.TriDense)
	ways := matrixIn(t.ways, t.factor.Rank(), p) // U Pᵀ
	t.ways = ways.Data
	for j, to := range t.factor.ColumnPivots(nil) {
		for k := range min(j+1, ways.Rows) {
			row(ways, k)[to] = u.At(k, j)
		}
	}
	t.drawn = sized(t.drawn, n*p)
	out := blas64.General{Rows: n, Cols: p, Stride: p, Data: t.drawn}
	for i := 0; i < n; i += 2 {
		up, down := row(out, i), row(out, i+1)
		clear(down) // less the mean at first
		for k := 0; k < ways.Rows; k += 2 {
			z := stream.NormFloat64()
			first := ways.Data[k*p : (k+1)*p]
			if k+1 == ways.Rows {
				for j, w := range first { // few policies: a call would take longer
					down[j] += z * w
				}
				break
			}
			next, second := stream.NormFloat64(), ways.Data[(k+1)*p:][:len(first)]
			down := down[:len(first)]
			for j, w := range first { // two at a time, with the sums of one at a time
				down[j] = down[j] + z*w + next*second[j]
			}
		}
		for j, m := range mean {
			up[j], down[j] = m-down[j], m+down[j]
		}
	}
	return out
}

// draws returns draws of θ, samples×d, and the index of the policy that is best under each,
// the first of equals. There must be a policy.
func (t *Table) draws(stream *rand.Rand) (theta blas64.General, best []int) {
	if stream == nil {
		panic("acquisition: a function that samples needs Input.Rand")
	}
	theta, best = matrix(samples, t.belief.Dim()), make([]int, samples)
	for i := range samples {
		t.belief.Sample(row(theta, i), stream)
	}
	most := make([]float64, samples) // return of the best so far
	t.products = eachProduct(t.products, theta, t.a, func(first int, returns blas64.General) {
		copy(most[first:], row(returns, 0))
		for j := range returns.Rows {
			for i, r := range row(returns, j) {
				if r > most[first+i] {
					most[first+i], best[first+i] = r, j
				}
			}
		}
	})
	return theta, best
}

// shares returns p_j, the share of best that is j, of each of n policies.
func shares(best []int, n int) []float64 {
	out := make([]float64, n)
	for _, j := range best {
		out[j] += 1 / float64(len(best)) // exact, as samples is a power of two
	}
	return out
}

// rivals are the policies that may be better than the leader.
type rivals struct {
	leader int
	policy []int
	lag    []float64      // a_j − a_L ≤ 0
	vari   []float64      // s_j², the variance of the difference of the returns
	delta  blas64.General // μ_j − μ_L, K×d
}

// rivals returns the policies whose expected gain over the leader, h(a_j − a_L, s_j), is more
// than rounding (1e-15) in the sum over all policies.
func (t *Table) rivals() rivals {
	if len(t.policies) == 0 {
		return rivals{leader: -1}
	}
	a := t.returns()
	r := rivals{leader: floats.MaxIdx(a)}
	gains := make([]float64, len(a))
	for j := range a {
		if j != r.leader {
			gains[j] = gain(a[j]-a[r.leader], t.std(j, r.leader))
		}
	}
	least := 1e-15 * floats.Sum(gains)
	for j, g := range gains {
		if g > least {
			r.policy = append(r.policy, j)
			r.lag = append(r.lag, a[j]-a[r.leader])
			r.vari = append(r.vari, t.spread(j, r.leader))
		}
	}
	r.delta = matrix(len(r.policy), t.belief.Dim())
	for k, j := range r.policy {
		copy(row(r.delta, k), t.delta(j, r.leader))
	}
	return r
}
