package belief

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
)

// ratingBy is the rating y of annotator a.
func ratingBy(a idrl.AnnotatorID, y float64) idrl.Answer {
	return idrl.Answer{Choice: idrl.Rated, Rating: y, Annotator: a}
}

// ratingsLog is a log of ratings by turns of annotators with scales, of queries that
// are not centred: their offsets are confounded with θ in part.
func ratingsLog(n, d int, seed uint64, scales []float64) (qs []idrl.Query, as []idrl.Answer, design *mat.Dense) {
	stream := rng.New(seed, "ratings", 0)
	truth := normals(d, stream)
	floats.Scale(0.25/floats.Norm(truth, 2), truth)
	design = mat.NewDense(n, d+len(scales), nil)
	for i := range n {
		x := normals(d, stream)
		floats.AddConst(0.5, x)
		who := i % len(scales)
		y := scales[who]*floats.Dot(x, truth) + 0.1*float64(who) + 0.05*stream.NormFloat64()
		qs = append(qs, rating(slices.Clone(x)...))
		as = append(as, ratingBy(idrl.AnnotatorID(fmt.Sprint("annotator ", who)), min(1, max(-1, y))))
		floats.Scale(scales[who], x)
		copy(design.RawRowView(i), x)
		design.Set(i, d+who, 1)
	}
	return qs, as, design
}

func ratersModel(d int, scales []float64) Raters {
	r := Raters{Of: Model{Start: Isotropic(d, 0.3), Rating: Rating{0.01}, Comparison: Probit{0.5, 0.1}}, OffsetVar: 0.2, Scales: map[idrl.AnnotatorID]float64{}}
	for i, k := range scales {
		if k != 1 {
			r.Scales[idrl.AnnotatorID(fmt.Sprint("annotator ", i))] = k
		}
	}
	return r
}

func updateAll(t *testing.T, m idrl.RewardModel, qs []idrl.Query, as []idrl.Answer) idrl.Posterior {
	t.Helper()
	p := m.Prior()
	for i, a := range as {
		var err error
		if p, err = m.Update(p, qs[i], a); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// The belief is one linear regression on [k x; e] with prior variance OffsetVar for
// the offsets; annotators appear in the midst of it.
func TestRatersEqualJointRegression(t *testing.T) {
	const d, n = 4, 30
	scales := []float64{1, 0.5, 2}
	qs, as, design := ratingsLog(n, d, 1, scales)
	r := ratersModel(d, scales)
	b := updateAll(t, r, qs, as).(*RatersBelief)

	prior := mat.NewSymDense(d+3, nil)
	for i := range d + 3 {
		prior.SetSym(i, i, 0.3)
		if i >= d {
			prior.SetSym(i, i, 0.2)
		}
	}
	start, err := NewGaussian(make([]float64, d+3), prior)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, n)
	for i, a := range as {
		y[i] = a.Rating
	}
	mean, cov := regression(t, start, design, y, 0.01)
	if b.Dim() != d || !floats.EqualApprox(b.Mean(nil), mean[:d], 1e-11) {
		t.Errorf("mean %v, want %v", b.Mean(nil), mean[:d])
	}
	x, got := normals(d, rng.New(2, "x", 0)), make([]float64, d)
	b.CovMul(got, x)
	for i := range d {
		within(t, "Σx", got[i], floats.Dot(cov[i*(d+3):i*(d+3)+d], x), 1e-12)
	}
	for i := range 3 {
		m, v, ok := b.Offset(idrl.AnnotatorID(fmt.Sprint("annotator ", i)))
		within(t, "offset", m, mean[d+i], 1e-11)
		within(t, "variance of the offset", v, cov[(d+i)*(d+3)+d+i], 1e-12)
		if !ok {
			t.Errorf("annotator %d has no offset", i)
		}
	}
	if _, _, ok := b.Offset("nobody"); ok {
		t.Error("somebody who has not rated has an offset")
	}
	draw, again := b.Sample(nil, rng.New(3, "draw", 0)), b.Sample(nil, rng.New(3, "draw", 0))
	if len(draw) != d || !floats.Equal(draw, again) {
		t.Errorf("draws %v and %v", draw, again)
	}

	evidence, err := r.Evidence(qs, as)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "evidence", evidence, evidenceOf(t, design, prior, 0.01, y), 1e-9)
}

// evidenceOf returns log N(y; 0, XΣXᵀ + noise·I).
func evidenceOf(t *testing.T, x *mat.Dense, prior *mat.SymDense, noise float64, y []float64) float64 {
	t.Helper()
	n, _ := x.Dims()
	var xs, full mat.Dense
	xs.Mul(x, prior)
	full.Mul(&xs, x.T())
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			cov.SetSym(i, j, full.At(i, j))
		}
		cov.SetSym(i, i, full.At(i, i)+noise)
	}
	normal, ok := distmv.NewNormal(make([]float64, n), cov, nil)
	if !ok {
		t.Fatal("not positive definite")
	}
	return normal.LogProb(y)
}

// One weight, one annotator, one question over and over: only θ + o can be learned,
// and the variance of θ stays at that of the share that is not o.
func TestRatersVarianceOfTheConfounded(t *testing.T) {
	const n, theta, noise = 50, 0.3, 0.01
	r := ratersModel(1, nil)
	var qs []idrl.Query
	var as []idrl.Answer
	for range n {
		qs, as = append(qs, rating(1)), append(as, ratingBy("a", 0.6))
	}
	p := updateAll(t, r, qs, as)
	share := theta / (theta + r.OffsetVar + noise/n)
	v := make([]float64, 1)
	p.CovMul(v, []float64{1})
	within(t, "mean", p.Mean(nil)[0], 0.6*share, 1e-12)
	within(t, "variance", v[0], theta*(1-share), 1e-12)
}

// An annotator who rates everything higher by a constant gives the same ranking of
// policies; taken at their word, another one. What the offset may be makes every
// return less certain.
func TestConstantOffsetLeavesTheRanking(t *testing.T) {
	const d = 3
	qs, as, _ := ratingsLog(40, d, 4, []float64{1})
	higher := slices.Clone(as)
	for i := range higher {
		as[i].Rating *= 0.5 // so that the scale has room
		higher[i].Rating = as[i].Rating + 0.45
	}
	r := ratersModel(d, nil)
	r.OffsetVar = 1e4 // next to nothing is known of the offset
	plain, shifted := updateAll(t, r, qs, as), updateAll(t, r, qs, higher)
	policies := make([][]float64, 12)
	for i := range policies {
		policies[i] = normals(d, rng.New(5, "policy", uint64(i)))
	}
	ranking := func(p idrl.Posterior) []int {
		order := make([]int, len(policies))
		returns := make([]float64, len(policies))
		for i, mu := range policies {
			returns[i] = floats.Dot(mu, p.Mean(nil))
		}
		floats.Argsort(returns, order)
		return order
	}
	if got, want := ranking(shifted), ranking(plain); !slices.Equal(got, want) {
		t.Errorf("ranking %v with an offset, %v without", got, want)
	}
	if !floats.EqualApprox(shifted.Mean(nil), plain.Mean(nil), 1e-5) { // 0.45/OffsetVar
		t.Errorf("mean %v with an offset, %v without", shifted.Mean(nil), plain.Mean(nil))
	}
	word := updateAll(t, r.Of, qs, higher)
	if slices.Equal(ranking(word), ranking(plain)) {
		t.Error("the log is too easy: the offset changes no ranking where it is not modelled")
	}
	trusting := covariance(updateAll(t, r.Of, qs, as).(*Gaussian))
	var more mat.SymDense
	more.ScaleSym(-1, trusting)
	more.AddSym(&more, covariance(plain.(*RatersBelief).theta))
	var e mat.EigenSym
	if !e.Factorize(&more, false) || floats.Min(e.Values(nil)) < -1e-15 || mat.Trace(&more) < 0.1*mat.Trace(trusting) {
		t.Errorf("the covariance grows by %v, want more everywhere", mat.Formatted(&more))
	}
}

// A comparison is free of offsets: it is the update of the joint belief by [x; 0].
func TestRatersComparison(t *testing.T) {
	qs, as, _ := ratingsLog(9, 2, 6, []float64{1, 2, 1})
	r := ratersModel(2, []float64{1, 2, 1})
	b := updateAll(t, r, qs, as).(*RatersBelief)
	got, err := r.Update(b, comparison(1, -1), choseA)
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.Of.Update(b.joint, comparison(1, -1, 0, 0, 0), choseA)
	if err != nil {
		t.Fatal(err)
	}
	if j := got.(*RatersBelief).joint; !floats.Equal(j.mean, want.(*Gaussian).mean) || !floats.Equal(j.cov, want.(*Gaussian).cov) {
		t.Error("the joint belief differs")
	}
	if r.Likelihood(comparison(1, -1)) != r.Of.Comparison {
		t.Error("another likelihood of comparisons")
	}
	same, err := r.Update(b, rating(1, 0), idrl.Answer{Choice: idrl.CantTell, Annotator: "new"})
	if err != nil || same != idrl.Posterior(b) {
		t.Errorf("an answer without information gave %v, error %v", same, err)
	}
}

// Anticipate has the covariance after a rating by a newcomer, and Likelihood the
// probability of that rating.
func TestRatersAnticipate(t *testing.T) {
	qs, as, _ := ratingsLog(6, 2, 7, []float64{1, 1})
	r := ratersModel(2, nil)
	b := updateAll(t, r, qs, as).(*RatersBelief)
	q := rating(0.7, -0.2)
	after, logZ, err := r.step(b, q, ratingBy("newcomer", 0.4))
	if err != nil {
		t.Fatal(err)
	}
	got := r.Anticipate(b, q).(*RatersBelief)
	if !floats.Equal(got.theta.mean, b.theta.mean) || !floats.EqualApprox(got.theta.cov, after.theta.cov, 1e-15) {
		t.Errorf("anticipated N(%v, %v), want covariance %v", got.theta.mean, got.theta.cov, after.theta.cov)
	}
	m, v := b.theta.moments(q.X)
	l, _, _ := r.Likelihood(q).LogZ(ratingBy("", 0.4), m, v)
	within(t, "log Z of a newcomer's rating", l, logZ, 1e-13)
	w := r.Likelihood(q).Info(m, v)
	sx := make([]float64, 2)
	b.CovMul(sx, q.X)
	within(t, "expected variance of a weight", got.theta.cov[0], b.theta.cov[0]-sx[0]*sx[0]*w, 1e-14)
	c := comparison(1, 1)
	m, v = b.theta.moments(c.X)
	b.CovMul(sx, c.X)
	within(t, "expected variance after a comparison", r.Anticipate(b, c).(*RatersBelief).theta.cov[0],
		b.theta.cov[0]-sx[0]*sx[0]*r.Of.Comparison.Info(m, v), 1e-14)
}

func TestRatersRefuse(t *testing.T) {
	good := ratersModel(2, nil)
	bad := func(f func(r *Raters)) Raters { r := ratersModel(2, nil); f(&r); return r }
	for _, test := range []struct {
		name string
		r    Raters
		p    idrl.Posterior
		q    idrl.Query
		a    idrl.Answer
		kind idrl.Kind
	}{
		{"another posterior", good, Isotropic(2, 1), rating(1, 0), ratingBy("a", 0), idrl.Internal},
		{"wrong dimension", good, good.Prior(), rating(1, 0, 0), ratingBy("a", 0), idrl.Invalid},
		{"off the scale", good, good.Prior(), rating(1, 0), ratingBy("a", 2), idrl.Invalid},
		{"a choice for a rating", good, good.Prior(), rating(1, 0), choseA, idrl.Invalid},
		{"scale of zero", bad(func(r *Raters) { r.Scales["a"] = 0 }), good.Prior(), rating(1, 0), ratingBy("a", 0), idrl.Invalid},
		{"scale that is no number", bad(func(r *Raters) { r.Scales["a"] = math.NaN() }), good.Prior(), rating(1, 0), ratingBy("a", 0), idrl.Invalid},
		{"no offset variance", bad(func(r *Raters) { r.OffsetVar = 0 }), good.Prior(), rating(1, 0), ratingBy("a", 0), idrl.Invalid},
	} {
		got, err := test.r.Update(test.p, test.q, test.a)
		if err == nil || got != nil || idrl.KindOf(err) != test.kind {
			t.Errorf("%s: %v, error %v, want one of kind %d", test.name, got, err, test.kind)
		}
	}
	if _, err := good.Evidence([]idrl.Query{rating(1, 0)}, []idrl.Answer{choseA}); idrl.KindOf(err) != idrl.Invalid || err == nil || !strings.Contains(err.Error(), "answer 1 of 1") {
		t.Errorf("evidence: error %v", err)
	}
	if _, err := good.EvidenceScales(nil, nil, 0); idrl.KindOf(err) != idrl.Invalid || err == nil {
		t.Errorf("grid without width: error %v", err)
	}
	if !panics(func() { good.Evidence([]idrl.Query{rating(1, 0)}, nil) }) {
		t.Error("a query without an answer passed")
	}
}

// The scales of a log with known ones are found: their ratios to within a step of
// the grid, because what all share is told apart from θ by the priors alone.
func TestEvidenceScales(t *testing.T) {
	truth := []float64{0.5, 1, 2}
	qs, as, _ := ratingsLog(120, 3, 8, truth)
	r := ratersModel(3, nil)
	r.Of.Start = Isotropic(3, 0.02) // that of the truth
	const logStd = 0.52             // the grid holds 0.5, 1 and 2
	got, err := r.EvidenceScales(qs, as, logStd)
	if err != nil {
		t.Fatal(err)
	}
	k := func(i int) float64 { return got[idrl.AnnotatorID(fmt.Sprint("annotator ", i))] }
	step := 2. / 3 * logStd
	for i := range 2 {
		within(t, fmt.Sprintf("log ratio of scales %d and %d", i+1, i), math.Log(k(i+1)/k(i)), math.Ln2, step/2)
	}
	if len(got) != 3 || len(r.Scales) != 0 {
		t.Errorf("scales %v; the model's own %v", got, r.Scales)
	}
	before, err := r.Evidence(qs, as)
	if err != nil {
		t.Fatal(err)
	}
	r.Scales = got
	after, err := r.Evidence(qs, as)
	if err != nil {
		t.Fatal(err)
	}
	if after < before+10 {
		t.Errorf("evidence %v with the scales, %v without", after, before)
	}
}
