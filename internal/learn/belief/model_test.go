package belief

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
)

func model(d int) Model {
	return Model{Start: Isotropic(d, 2), Comparison: Probit{NoiseStd: 0.7, TieBand: 0.3}, Rating: Rating{NoiseVar: 0.1}}
}

func comparison(x ...float64) idrl.QueryVector {
	return idrl.QueryVector{Query: idrl.Query{ID: "q", Kind: idrl.CompareClips}, X: x}
}

func rating(x ...float64) idrl.QueryVector {
	return idrl.QueryVector{Query: idrl.Query{ID: "q", Kind: idrl.RateState}, X: x}
}

func TestUpdateRefuses(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		name string
		p    idrl.Posterior
		q    idrl.QueryVector
		a    idrl.Answer
		kind idrl.Kind
	}{
		{"choice for a rating", Isotropic(2, 1), rating(1, 0), idrl.Answer{Choice: idrl.ChoseA}, idrl.Invalid},
		{"rating for a comparison", Isotropic(2, 1), comparison(1, 0), idrl.Answer{Choice: idrl.Rated}, idrl.Invalid},
		{"rating off the scale", Isotropic(2, 1), rating(1, 0), idrl.Answer{Choice: idrl.Rated, Rating: 1.1}, idrl.Invalid},
		{"rating that is no number", Isotropic(2, 1), rating(1, 0), idrl.Answer{Choice: idrl.Rated, Rating: nan}, idrl.Invalid},
		{"wrong dimension", Isotropic(3, 1), comparison(1, 0), idrl.Answer{Choice: idrl.ChoseA}, idrl.Invalid},
		{"wrong dimension, no information", Isotropic(3, 1), comparison(1, 0), idrl.Answer{Choice: idrl.CantTell}, idrl.Invalid},
		{"features that are no numbers", Isotropic(2, 1), comparison(1, nan), idrl.Answer{Choice: idrl.ChoseA}, idrl.Invalid},
		{"features without end", Isotropic(2, 1), rating(1, math.Inf(-1)), rate(0), idrl.Invalid},
		{"rating without end", Isotropic(2, 1), rating(1, 0), rate(math.Inf(1)), idrl.Invalid},
		{"features so large that their variance is not finite", Isotropic(2, 1), comparison(1e300, 0), idrl.Answer{Choice: idrl.ChoseA}, idrl.Internal},
		{"another posterior", other{}, comparison(1, 0), idrl.Answer{Choice: idrl.ChoseA}, idrl.Internal},
	} {
		got, err := model(2).Condition(test.p, test.q, test.a)
		if err == nil || got != nil || idrl.KindOf(err) != test.kind {
			t.Errorf("%s: %v, error %v, want one of kind %d", test.name, got, err, test.kind)
		}
	}
}

// other is a posterior that is not a Gaussian.
type other struct{ idrl.Posterior }

func TestUninformativeAnswers(t *testing.T) {
	m := model(2)
	for _, choice := range []idrl.Choice{idrl.CantTell, idrl.Skip, idrl.TechnicalFailure} {
		for _, q := range []idrl.QueryVector{comparison(1, 0), rating(1, 0)} {
			got, err := m.Condition(m.Prior(), q, idrl.Answer{Choice: choice})
			if err != nil || got != m.Prior() {
				t.Errorf("%s to a %s: %v, error %v; want the belief as it was", choice, q.Kind, got, err)
			}
		}
	}
}

func TestUpdateDirection(t *testing.T) {
	m := model(2)
	for _, test := range []struct {
		q    idrl.QueryVector
		a    idrl.Answer
		sign float64
	}{
		{comparison(1, 0), idrl.Answer{Choice: idrl.ChoseA}, 1},
		{comparison(1, 0), idrl.Answer{Choice: idrl.ChoseB}, -1},
		{comparison(1, 0), idrl.Answer{Choice: idrl.Equal}, 0},
		{rating(1, 0), idrl.Answer{Choice: idrl.Rated, Rating: -0.5}, -1},
	} {
		p := must.Get(m.Condition(m.Prior(), test.q, test.a))(t)
		mean, cov := p.Mean(nil), covariance(p.(*Gaussian))
		if math.Abs(mean[0]) < 1e-12 && test.sign != 0 || mean[0]*test.sign < 0 || mean[1] != 0 {
			t.Errorf("%s: mean %v, want sign %v", test.a.Choice, mean, test.sign)
		}
		if cov.At(0, 0) >= 2 || cov.At(1, 1) != 2 {
			t.Errorf("%s: covariance %v", test.a.Choice, cov)
		}
	}
}

// In two dimensions the exact posterior is integrated on a grid over both
// weights; the update has its mean and covariance, for every answer.
func TestUpdateMatchesTheExactMoments(t *testing.T) {
	g := must.Get(NewGaussian([]float64{0.4, -0.3}, mat.NewSymDense(2, []float64{1, 0.6, 0.6, 2})))(t)
	m := model(2)
	q := comparison(0.8, -0.5)
	for _, o := range probitOutcomes(m.Comparison.(Probit)) {
		p := must.Get(m.Condition(g, q, o.answer))(t)
		mean, cov := gridMoments(t, g, func(theta []float64) float64 { return o.given(floats.Dot(q.X, theta)) })
		got := p.(*Gaussian)
		if !floats.EqualApprox(got.mean, mean, 1e-9) || !floats.EqualApprox(got.cov, cov, 1e-9) {
			t.Errorf("%s: N(%v, %v), want N(%v, %v)", o.answer.Choice, got.mean, got.cov, mean, cov)
		}
	}
	y := 0.35
	p := must.Get(m.Condition(g, rating(q.X...), idrl.Answer{Choice: idrl.Rated, Rating: y}))(t)
	mean, cov := gridMoments(t, g, func(theta []float64) float64 {
		return math.Exp(-0.5 * math.Pow(y-floats.Dot(q.X, theta), 2) / 0.1)
	})
	if got := p.(*Gaussian); !floats.EqualApprox(got.mean, mean, 1e-9) || !floats.EqualApprox(got.cov, cov, 1e-9) {
		t.Errorf("rating: N(%v, %v), want N(%v, %v)", got.mean, got.cov, mean, cov)
	}
}

// gridMoments returns the mean and covariance of the density g·weight over the
// plane by the trapezoidal rule, which is exact to rounding for such densities.
func gridMoments(t *testing.T, g *Gaussian, weight func(theta []float64) float64) (mean, cov []float64) {
	t.Helper()
	n, ok := distmv.NewNormal(g.mean, covariance(g), nil)
	if !ok {
		t.Fatal("not positive definite")
	}
	const step, reach = 0.1, 12.0
	mean, cov = make([]float64, 2), make([]float64, 4)
	var total float64
	for a := -reach; a <= reach; a += step {
		for b := -reach; b <= reach; b += step {
			theta := []float64{a, b}
			f := n.Prob(theta) * weight(theta)
			total += f
			for i, x := range theta {
				mean[i] += f * x
				for j, y := range theta {
					cov[2*i+j] += f * x * y
				}
			}
		}
	}
	floats.Scale(1/total, mean)
	for i := range 2 {
		for j := range 2 {
			cov[2*i+j] = cov[2*i+j]/total - mean[i]*mean[j]
		}
	}
	return mean, cov
}

// What ConditionOnPending promises: the mean as it was, and the covariance that the
// answers bring on average, summed over their probabilities. By the law of total
// variance the prior covariance is that plus the spread of the updated means.
func TestConditionOnPending(t *testing.T) {
	stream := rng.New(3, "anticipate", 0)
	g := correlated(t, 4, stream)
	m := model(4)
	q := comparison(normals(4, stream)...)
	mean, v := g.moments(q.X)
	want := make([]float64, 16)
	spread := make([]float64, 16)
	for _, o := range probitOutcomes(m.Comparison.(Probit)) {
		logZ, _, _ := m.Comparison.LogZ(o.answer, mean, v)
		p := must.Get(m.Condition(g, q, o.answer))(t)
		floats.AddScaled(want, math.Exp(logZ), p.(*Gaussian).cov)
		for i := range 4 {
			for j := range 4 {
				spread[4*i+j] += math.Exp(logZ) * (p.(*Gaussian).mean[i] - g.mean[i]) * (p.(*Gaussian).mean[j] - g.mean[j])
			}
		}
	}
	got := m.ConditionOnPending(g, q).(*Gaussian)
	if !floats.Equal(got.mean, g.mean) || !floats.EqualApprox(got.cov, want, 1e-12) {
		t.Errorf("anticipated covariance %v, want %v", got.cov, want)
	}
	floats.Add(spread, want)
	if !floats.EqualApprox(spread, g.cov, 1e-12) {
		t.Error("expected covariance and spread of the means do not add up to the prior")
	}
	rated := rating(q.X...)
	p := must.Get(m.Condition(g, rated, idrl.Answer{Choice: idrl.Rated, Rating: 0.9}))(t)
	if got := m.ConditionOnPending(g, rated).(*Gaussian); !floats.EqualApprox(got.cov, p.(*Gaussian).cov, 1e-14) {
		t.Error("for a rating the anticipated covariance is not that of the update")
	}
}

// A perfect annotator's answers to random questions lead to the true weights.
func TestLearns(t *testing.T) {
	const d = 5
	for _, m := range []Model{
		{Start: Isotropic(d, 1), Comparison: Probit{NoiseStd: 0.2, TieBand: 0.05}, Rating: Rating{0.05}},
		{Start: Isotropic(d, 1), Comparison: PlusMinus{PaperNoiseVar}, Rating: Rating{0.05}},
	} {
		stream := rng.New(4, "learns", 0)
		truth := normals(d, stream)
		p := m.Prior()
		for range 400 {
			q := comparison(normals(d, stream)...)
			var err error
			if p, err = m.Condition(p, q, perfect(q, truth)); err != nil {
				t.Fatal(err)
			}
		}
		mean := p.Mean(nil)
		cos := floats.Dot(mean, truth) / (floats.Norm(mean, 2) * floats.Norm(truth, 2))
		if cos < 0.98 {
			t.Errorf("%T: cosine %v after 400 answers, want 0.98", m.Comparison, cos)
		}
	}
}

// perfect returns the answer of somebody who feels differences above 0.05.
func perfect(q idrl.QueryVector, truth []float64) idrl.Answer {
	switch u := floats.Dot(q.X, truth); {
	case u > 0.05:
		return idrl.Answer{Choice: idrl.ChoseA}
	case u < -0.05:
		return idrl.Answer{Choice: idrl.ChoseB}
	}
	return idrl.Answer{Choice: idrl.Equal}
}

// More weights are independent of those before, which keep their prior.
func TestBeside(t *testing.T) {
	cov := mat.NewSymDense(2, []float64{2, 0.5, 0.5, 1})
	start := must.Get(NewGaussian([]float64{1, -1}, cov))(t)
	m := Model{Start: start}.Beside([]float64{3, 0.5})
	var got mat.SymDense
	m.Start.Cov(&got)
	want := mat.NewSymDense(4, []float64{2, 0.5, 0, 0, 0.5, 1, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0.25})
	if !mat.Equal(&got, want) || !slices.Equal(m.Start.Mean(nil), []float64{1, -1, 0, 0}) {
		t.Errorf("mean %v, covariance %v", m.Start.Mean(nil), mat.Formatted(&got))
	}
	if same := (Model{Start: start}).Beside(nil); same.Start != start {
		t.Error("without more weights the model changes")
	}
}
