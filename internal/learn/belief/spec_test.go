package belief

import (
	"math"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// env is an environment of which only the spec matters.
type env struct {
	idrl.Environment
	d int
}

func (e env) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{ID: "bare", FeatureNames: make([]string, e.d)}
}

// kernelled is one whose features are types with correlation rho.
type kernelled struct {
	env
	rho float64
}

func (e kernelled) Kernel(dst *mat.SymDense) {
	for i := range e.d {
		for j := range i {
			dst.SetSym(i, j, e.rho)
		}
		dst.SetSym(i, i, 1)
	}
}

func TestForSpec(t *testing.T) {
	base := settings.Complete(idrl.SessionSpec{})
	with := func(f func(s *idrl.SessionSpec)) idrl.SessionSpec { s := base; f(&s); return s }
	for _, test := range []struct {
		name string
		spec idrl.SessionSpec
		env  idrl.Environment
		err  string // a part of it; empty if there is none
		cov  []float64
		like idrl.Likelihood
	}{
		{"defaults", base, env{d: 2}, "", []float64{1, 0, 0, 1}, Probit{NoiseStd: 3, TieBand: 0.75}},
		{"prior variance", with(func(s *idrl.SessionSpec) { s.PriorVar = 3 }), env{d: 1}, "", []float64{3}, Probit{NoiseStd: 3, TieBand: 0.75}},
		{"kernel", with(func(s *idrl.SessionSpec) { s.Prior, s.PriorVar = "kernel", 4 }), kernelled{env{d: 2}, math.Exp(-1)}, "", []float64{4, 4 / math.E, 4 / math.E, 4}, Probit{NoiseStd: 3, TieBand: 0.75}},
		{"scales", with(func(s *idrl.SessionSpec) { s.PriorVar, s.PriorScale = 2, []float64{3, 0.5} }), env{d: 2}, "", []float64{18, 0, 0, 0.5}, Probit{NoiseStd: 3, TieBand: 0.75}},
		{"kernel with scales", with(func(s *idrl.SessionSpec) { s.Prior, s.PriorScale = "kernel", []float64{2, 3} }), kernelled{env{d: 2}, 0.5}, "", []float64{4, 3, 3, 9}, Probit{NoiseStd: 3, TieBand: 0.75}},
		{"scales for other features", with(func(s *idrl.SessionSpec) { s.PriorScale = []float64{1} }), env{d: 2}, "1 scales for 2 features", nil, nil},
		{"a scale that is no number", with(func(s *idrl.SessionSpec) { s.PriorScale = []float64{1, math.NaN()} }), env{d: 2}, "scales of the prior", nil, nil},
		{"a scale beyond the noise", with(func(s *idrl.SessionSpec) { s.PriorScale = []float64{1, 1e5} }), env{d: 2}, "too small", nil, nil},
		{"paper", with(func(s *idrl.SessionSpec) { s.Likelihood = "gaussian" }), env{d: 1}, "", []float64{1}, PlusMinus{NoiseVar: 0.25}},
		{"logistic", with(func(s *idrl.SessionSpec) { s.Likelihood, s.NoiseStd = "bradley-terry", 2 }), env{d: 1}, "", []float64{1}, BradleyTerry{Beta: 1.5957691216057308 / 2, TieWidth: 0.75}},
		{"simulated annotator", with(func(s *idrl.SessionSpec) { s.Likelihood = "bernoulli" }), env{d: 1}, "", []float64{1}, BernoulliLinear{}},
		{"no kernel", with(func(s *idrl.SessionSpec) { s.Prior = "kernel" }), env{d: 2}, "must be \"linear\"", nil, nil},
		{"kernel not positive definite", with(func(s *idrl.SessionSpec) { s.Prior = "kernel" }), kernelled{env{d: 2}, 1.5}, "positive definite", nil, nil},
		{"unknown prior", with(func(s *idrl.SessionSpec) { s.Prior = "flat" }), env{d: 2}, "known: linear, kernel", nil, nil},
		{"unknown likelihood", with(func(s *idrl.SessionSpec) { s.Likelihood = "logit" }), env{d: 2}, "known: probit, gaussian, bradley-terry, bernoulli", nil, nil},
		{"unknown model of a rating", with(func(s *idrl.SessionSpec) { s.RatingModel = "levels" }), env{d: 2}, "known: clipped, gaussian", nil, nil},
		{"no features", base, env{}, "has 0 features", nil, nil},
		{"prior variance is no number", with(func(s *idrl.SessionSpec) { s.PriorVar = math.NaN() }), env{d: 2}, "prior variance", nil, nil},
		{"negative noise", with(func(s *idrl.SessionSpec) { s.NoiseStd = -1 }), env{d: 2}, "positive", nil, nil},
		{"infinite rating variance", with(func(s *idrl.SessionSpec) { s.RatingVar = math.Inf(1) }), env{d: 2}, "positive", nil, nil},
		{"noise below rounding", with(func(s *idrl.SessionSpec) { s.RatingVar = 1e-10 }), env{d: 2}, "too small", nil, nil},
		{"prior beyond the paper's noise", with(func(s *idrl.SessionSpec) { s.PriorVar = 1e9 }), env{d: 2}, "too small", nil, nil},
	} {
		m, err := ForSpec(test.spec, test.env)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || idrl.KindOf(err) != idrl.Invalid {
				t.Errorf("%s: error %v, want one of kind Invalid with %q", test.name, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if !floats.EqualApprox(m.Start.cov, test.cov, 1e-15) || floats.Norm(m.Start.mean, 1) != 0 {
			t.Errorf("%s: prior covariance %v, want %v", test.name, m.Start.cov, test.cov)
		}
		if got := m.Likelihood(comparison().Query); got != test.like {
			t.Errorf("%s: likelihood %#v, want %#v", test.name, got, test.like)
		}
		if got := m.Likelihood(rating().Query); got != (RatingClipped{NoiseVar: test.spec.RatingVar}) {
			t.Errorf("%s: likelihood of a rating %#v", test.name, got)
		}
		test.spec.RatingModel = idrl.RecordedEarlier().RatingModel
		earlier, err := ForSpec(test.spec, test.env)
		if err != nil {
			t.Fatal(err)
		}
		if got := earlier.Likelihood(rating().Query); got != (Rating{NoiseVar: test.spec.RatingVar}) {
			t.Errorf("%s: likelihood of a rating in a session of an earlier version %#v", test.name, got)
		}
	}
}

// Every likelihood that a session may name has a model, and in it an answer a makes
// a more likely.
func TestForSpecKnowsEveryLikelihood(t *testing.T) {
	for _, name := range idrl.Likelihoods() {
		spec := settings.Complete(idrl.SessionSpec{Likelihood: name})
		m, err := ForSpec(spec, env{d: 1})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p, err := m.Condition(m.Prior(), comparison(1), choseA)
		if err != nil || !(p.Mean(nil)[0] > 0) {
			t.Errorf("%s: %v, error %v; want a mean above zero", name, p, err)
		}
	}
}

// One number sets the noise: the probit and the logistic of one NoiseStd are equally
// steep at zero, and never 0.018 apart.
func TestNoiseOfTheLogistic(t *testing.T) {
	const s = 0.8
	p, b := Probit{NoiseStd: s}, BradleyTerry{Beta: slope / s}
	_, p1, _ := p.LogZ(choseA, 0, 0)
	_, b1, _ := b.LogZ(choseA, 0, 0)
	within(t, "slope of log P(a) at zero", b1, p1, 1e-14)
	var apart float64
	for u := 0.0; u < 10; u += 0.01 {
		x, _, _ := p.LogZ(choseA, u, 0)
		y, _, _ := b.LogZ(choseA, u, 0)
		apart = max(apart, math.Abs(math.Exp(x)-math.Exp(y)))
	}
	within(t, "greatest distance in probability", apart, 0.0177, 5e-5)
}
