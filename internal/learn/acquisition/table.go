package acquisition

import (
	"math"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A Table holds the products of one belief N(μ, Σ) with a fixed list of queries (the rows
// x_q of C, Q×d) and a list of policies (the rows μ_i, P×d), from which all acquisition
// functions are computed. Source: docs/methods.md, section 1.1.
//
// Built from scratch it costs O(Qd² + Pd² + P²d). Condition brings it up to date
// with an answer in O(Qd + Pd + P² + d²), without a solve and without a pass
// over Σ for every query. Equal queries have products equal to the last bit, and
// so have equal policies, so that they tie. A Table is owned by one goroutine.
type Table struct {
	belief idrl.Posterior
	queryMoments
	c blas64.General // C, Q×d

	policies []idrl.Candidate
	a        blas64.General // μ_i − μ_0, P×d: differences lose fewer digits than the μ_i
	gram     blas64.General // (μ_i − μ_0)ᵀΣ(μ_j − μ_0), P×P

	workspace
}

// queryMoments has the moments of θ·x_q for each query of a table.
type queryMoments struct {
	model   idrl.RewardModel
	queries []idrl.QueryVector
	mean    []float64 // m_q = x_q·μ
	vari    []float64 // v_q = x_qᵀΣx_q ≥ 0
	info    []float64 // w_q, NaN where it has not been computed
	weights []float64 // what Select multiplies values by, > 0; nil for ones
	spare   []float64 // memory for weights
}

// A workspace holds what would otherwise be allocated. No two tables share one.
type workspace struct {
	k, g   []float64 // one number a query and a policy, with room as matrix has it
	sx, x  []float64 // length d
	scores []float64 // one number per query

	drawn, ways   []float64           // of DrawReturns: the draws, and U Pᵀ
	deltas        []float64           // weighted differences of policies
	images        []float64           // of eachCov
	products      []float64           // of eachProduct
	factor        mat.PivotedCholesky // of gram
	oldA, oldGram []float64           // of the policies before Reset, free to use
}

// NewTable returns the table of a belief with queries and no policies.
func NewTable(m idrl.RewardModel, p idrl.Posterior, queries []idrl.QueryVector) *Table {
	t := &Table{}
	t.Reset(m, p, queries)
	return t
}

// Reset makes t the table that NewTable returns, and reuses its memory. Slices that t
// returned before are no longer valid.
func (t *Table) Reset(m idrl.RewardModel, p idrl.Posterior, queries []idrl.QueryVector) {
	d, n := p.Dim(), len(queries)
	c := sized(t.c.Data, whole(n)*d)
	clear(c[n*d:])
	*t = Table{
		belief: p, c: blas64.General{Rows: n, Cols: d, Stride: max(1, d), Data: c},
		queryMoments: queryMoments{
			model: m, queries: queries, mean: sized(t.mean, n), vari: sized(t.vari, n), info: sized(t.info, n), spare: t.spare,
		},
		workspace: workspace{
			k: sized(t.k, whole(n)), g: t.g, sx: sized(t.sx, d), x: sized(t.x, d),
			scores: t.scores, drawn: t.drawn, ways: t.ways, deltas: t.deltas, images: t.images, products: t.products, factor: t.factor, oldA: t.a.Data, oldGram: t.gram.Data,
		},
	}
	mean := p.Mean(nil)
	for i, q := range queries {
		copy(row(t.c, i), q.X)
		t.mean[i], t.vari[i] = idrl.Moments(p, q.X, mean, t.sx)
		t.info[i] = math.NaN()
	}
}

// sized returns a slice of n numbers, in the memory of old if that is large enough. The
// caller sets the numbers.
func sized(old []float64, n int) []float64 { return slices.Grow(old[:0], n)[:n] }

// SetPolicies replaces the policies of the table.
func (t *Table) SetPolicies(policies []idrl.Candidate) {
	n, d := len(policies), t.belief.Dim()
	t.policies, t.g = policies, sized(t.g, whole(n))
	t.a, t.oldA = matrixIn(t.oldA, n, d), nil
	t.gram, t.oldGram = matrixIn(t.oldGram, n, n), nil
	for i, c := range policies {
		floats.SubTo(row(t.a, i), c.Mu, policies[0].Mu)
	}
	for i := range n {
		t.belief.CovMul(t.sx, row(t.a, i))
		multiply(t.g, t.a, t.sx)
		copy(row(t.gram, i), t.g)
	}
}

// Condition brings the table up to date with answer a to q, after which the belief
// is next. The answer must move the belief along Σx, as in a reward model whose belief is
// about θ alone. It panics if a is informative but does not fit q; the model that made next
// returns an error for such an answer.
func (t *Table) Condition(q idrl.QueryVector, a idrl.Answer, next idrl.Posterior) {
	if !a.Informative() {
		t.belief = next
		return
	}
	m, v := idrl.Moments(t.belief, q.X, t.belief.Mean(t.x), t.sx) // leaves Σx in sx
	_, d1, d2 := t.model.Likelihood(q.Query).LogZ(a, m, v)
	t.shift(d1, min(-d2, 1/v), next) // above 1/v only by rounding; the belief bounds it too
}

// ConditionOnPending brings the table up to date with the covariance that is expected
// once q is answered, which is that of next. The means stay.
func (t *Table) ConditionOnPending(q idrl.QueryVector, next idrl.Posterior) {
	m, v := idrl.Moments(t.belief, q.X, t.belief.Mean(t.x), t.sx)
	t.shift(0, min(t.model.Likelihood(q.Query).Info(m, v), 1/v), next)
}

// shift applies μ ← μ + α Σx and Σ ← Σ − κ (Σx)(Σx)ᵀ to the products, where sx
// holds Σx.
func (t *Table) shift(alpha, kappa float64, next idrl.Posterior) {
	multiply(t.k, t.c, t.sx)
	for i := range t.mean {
		k := t.k[i]
		t.mean[i] += alpha * k
		t.vari[i] = max(0, t.vari[i]-kappa*k*k)
		t.info[i] = math.NaN()
	}
	if n := len(t.policies); n > 0 {
		multiply(t.g, t.a, t.sx)
		g := vector(t.g[:n])
		blas64.Ger(-kappa, g, g, t.gram)
	}
	t.belief = next
}

// Clone returns a copy that can be brought up to date on its own.
func (t *Table) Clone() *Table {
	out := *t
	out.mean, out.vari, out.info = slices.Clone(t.mean), slices.Clone(t.vari), slices.Clone(t.info)
	out.gram.Data, out.spare = slices.Clone(t.gram.Data), nil
	out.workspace = workspace{
		k: make([]float64, len(t.k)), g: make([]float64, len(t.g)),
		sx: make([]float64, len(t.sx)), x: make([]float64, len(t.x)),
	}
	return &out
}

// Belief returns the belief of the table.
func (t *Table) Belief() idrl.Posterior { return t.belief }

// Queries returns the queries of the table. The caller must not change them.
func (t *queryMoments) Queries() []idrl.QueryVector { return t.queries }

// Policies returns the policies of the table. The caller must not change them.
func (t *Table) Policies() []idrl.Candidate { return t.policies }

// Means returns m_q of every query and Vars v_q. They belong to the table.
func (t *queryMoments) Means() []float64 { return t.mean }

// Vars returns v_q, the latent variance of θ·x_q, of every query.
func (t *queryMoments) Vars() []float64 { return t.vari }

// Infos returns w_q of every query. It belongs to the table.
func (t *queryMoments) Infos() []float64 {
	for i := range t.info {
		t.infoOf(i)
	}
	return t.info
}

// infoOf returns w_q of query i.
func (t *queryMoments) infoOf(i int) float64 {
	if math.IsNaN(t.info[i]) {
		t.info[i] = t.model.Likelihood(t.queries[i].Query).Info(t.mean[i], t.vari[i])
	}
	return t.info[i]
}

// weigh multiplies dst, length Q, whose numbers are at least 0, by w_q. If best is set, only
// the largest product times its weight in the selection is needed. Queries that cannot have
// it get −1, and their w_q is not computed: w_q ≤ 1/v_q, because an answer cannot reduce the
// variance below 0, and the likelihood may know a nearer bound.
func (t *queryMoments) weigh(dst []float64, best bool) {
	var most float64
	if best {
		first, highest := 0, -1.0
		for i, s := range dst {
			s *= t.weight(i)
			if v := t.vari[i]; s > highest*v {
				first, highest = i, s/v
			}
		}
		if len(dst) > 0 {
			most = dst[first] * t.weight(first) * t.infoOf(first)
		}
	}
	for i, s := range dst {
		least, weighted := most*(1-1e-9), s*t.weight(i)
		switch {
		case best && (weighted < least*t.vari[i] || weighted*t.mostInfo(i) < least):
			dst[i] = -1
		case s > 0:
			dst[i] = s * t.infoOf(i)
			most = max(most, dst[i]*t.weight(i))
		}
	}
}

// weight returns the factor by which Select multiplies the value of query i.
func (t *queryMoments) weight(i int) float64 {
	if t.weights == nil {
		return 1
	}
	return t.weights[i]
}

// A bounded likelihood has an upper bound of its information factor that is below 1/v and
// takes much less time to compute than the factor.
type bounded interface {
	// MostInfo returns an upper bound of Info(m, v) over all m.
	MostInfo(v float64) float64
}

// mostInfo returns an upper bound of w_q of query i by its likelihood; +Inf if that has none.
func (t *queryMoments) mostInfo(i int) float64 {
	if b, ok := t.model.Likelihood(t.queries[i].Query).(bounded); ok {
		return b.MostInfo(t.vari[i])
	}
	return math.Inf(1)
}

// Cov stores Cov(θ·delta, θ·x_q) of every query in dst, length Q.
func (t *Table) Cov(dst, delta []float64) {
	t.belief.CovMul(t.sx, delta)
	multiply(t.k, t.c, t.sx)
	copy(dst, t.k[:len(t.queries)])
}

// CovAll stores Cov(θ·delta_k, θ·x_q) in dst, K×Q, for the rows delta_k of
// deltas, K×d, in one pass over the queries.
func (t *Table) CovAll(dst, deltas blas64.General) {
	t.eachCov(deltas, func(first int, cov blas64.General) {
		for k := range cov.Rows {
			copy(row(dst, k)[first:], row(cov, k))
		}
	})
}

// eachCov calls f with Cov(θ·delta_k, θ·x_q) of the rows delta_k of deltas, K×d,
// and all queries, a block of queries from first on at a time: cov is K×n and f's
// until it returns.
func (t *Table) eachCov(deltas blas64.General, f func(first int, cov blas64.General)) {
	images := matrixIn(t.images, deltas.Rows, deltas.Cols)
	t.images = images.Data
	for k := range deltas.Rows {
		t.belief.CovMul(row(images, k), row(deltas, k))
	}
	t.products = eachProduct(t.products, t.c, images, f)
}

// spread returns the variance of the difference of the returns of policies i
// and j, up to rounding but no less than 0.
func (t *Table) spread(i, j int) float64 {
	g, n := t.gram.Data, t.gram.Stride
	return max(0, g[i*n+i]+g[j*n+j]-2*g[i*n+j])
}

// clear stores 0 for every query in dst. It panics if their numbers differ.
func (t *queryMoments) clear(dst []float64) {
	if len(dst) != len(t.queries) {
		panic("acquisition: destination has the wrong length")
	}
	clear(dst)
}
