package belief

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// outcome is a possible answer and its probability (density) given u.
type outcome struct {
	answer idrl.Answer
	given  func(u float64) float64
}

// probitOutcomes states the likelihood as its doc comment does.
func probitOutcomes(p Probit) []outcome {
	win := func(u float64) float64 { return distuv.UnitNormal.CDF((u - p.TieBand) / p.NoiseStd) }
	lose := func(u float64) float64 { return distuv.UnitNormal.CDF((-u - p.TieBand) / p.NoiseStd) }
	return []outcome{
		{idrl.Answer{Choice: idrl.ChoseA}, win},
		{idrl.Answer{Choice: idrl.ChoseB}, lose},
		{idrl.Answer{Choice: idrl.Equal}, func(u float64) float64 { return 1 - win(u) - lose(u) }},
	}
}

// integrate returns ∫ f over [a, b] by 400 panels of 16 Gauss-Legendre points.
func integrate(f func(float64) float64, a, b float64) float64 {
	const panels = 400
	var s float64
	for k := range panels {
		lo := a + (b-a)*float64(k)/panels
		s += quad.Fixed(f, lo, lo+(b-a)/panels, 16, quad.Legendre{}, 0)
	}
	return s
}

// moments returns Z = ∫ p(u) N(u; m, v) du and the mean and variance of u given
// the answer, by quadrature.
func moments(given func(float64) float64, m, v float64) (z, mean, variance float64) {
	n := distuv.Normal{Mu: m, Sigma: math.Sqrt(v)}
	raw := func(k float64) float64 {
		return integrate(func(u float64) float64 { return math.Pow(u-m, k) * given(u) * n.Prob(u) }, m-12*n.Sigma, m+12*n.Sigma)
	}
	z = raw(0)
	shift := raw(1) / z
	return z, m + shift, raw(2)/z - shift*shift
}

// The update is moment matching: the mean m + v·d1 and the variance v + v²·d2
// are those of u given the answer, and Z sums to one.
func TestProbitByQuadrature(t *testing.T) {
	for _, test := range []struct{ s, band, m, v float64 }{
		{1, 0.25, 0, 1},
		{1, 0.25, 2.5, 1},
		{0.25, 0.0625, -0.8, 1.7},
		{0.5, 2, 0.3, 0.01},
		{2, 0.5, -6, 4},
		{1, 1e-3, 1, 9},
		{0.1, 1, 0, 5},
	} {
		p := Probit{NoiseStd: test.s, TieBand: test.band}
		byQuadrature(t, fmt.Sprintf("%+v", test), p, probitOutcomes(p), test.m, test.v)
	}
}

// byQuadrature checks that the update by l under u ~ N(m, v) is moment matching:
// for each outcome, of which there are no others, Z is ∫ p(y|u) N(u; m, v) du, the
// mean m + v·d1 and the variance v + v²·d2 are those of u given the answer; the Z
// add up to one; and Info is Σ_y Z d1² = −Σ_y Z d2.
func byQuadrature(t *testing.T, name string, l idrl.Likelihood, outcomes []outcome, m, v float64) {
	t.Helper()
	var sum, info, bend float64
	for _, o := range outcomes {
		name := fmt.Sprintf("%s %s %v", name, o.answer.Choice, o.answer.Rating)
		z, mean, variance := moments(o.given, m, v)
		logZ, d1, d2 := l.LogZ(o.answer, m, v)
		within(t, name+" Z", math.Exp(logZ), z, 1e-12)
		within(t, name+" mean", m+v*d1, mean, 1e-9*(1+math.Abs(mean)))
		within(t, name+" variance", v+v*v*d2, variance, 1e-9*v)
		sum += math.Exp(logZ)
		info += z * math.Pow((mean-m)/v, 2)
		bend -= math.Exp(logZ) * d2
	}
	within(t, name+" sum of Z", sum, 1, 1e-13)
	within(t, name+" info", l.Info(m, v), info, 1e-9*info)
	within(t, name+" info by the second derivative", l.Info(m, v), bend, 1e-11*(info+1))
}

// The closed forms of docs/methods.md, section 2.1, where they do not cancel.
func TestProbitClosedForm(t *testing.T) {
	phi, cdf := distuv.UnitNormal.Prob, distuv.UnitNormal.CDF
	for _, test := range []struct{ s, band, m, v float64 }{{1, 0.5, 0.7, 2}, {0.3, 0.2, -0.4, 0.1}, {1, 1, 0, 0}} {
		p := Probit{NoiseStd: test.s, TieBand: test.band}
		r := math.Sqrt(test.s*test.s + test.v)
		for y, choice := range map[float64]idrl.Choice{1: idrl.ChoseA, -1: idrl.ChoseB} {
			z := (y*test.m - test.band) / r
			l := phi(z) / cdf(z)
			logZ, d1, d2 := p.LogZ(idrl.Answer{Choice: choice}, test.m, test.v)
			within(t, "log Z", logZ, math.Log(cdf(z)), 1e-13)
			within(t, "d1", d1, y*l/r, 1e-13)
			within(t, "d2", d2, -l*(l+z)/(r*r), 1e-13)
		}
		a1, a0 := (test.band-test.m)/r, (-test.band-test.m)/r
		z := cdf(a1) - cdf(a0)
		alpha := (phi(a0) - phi(a1)) / (r * z)
		logZ, d1, d2 := p.LogZ(idrl.Answer{Choice: idrl.Equal}, test.m, test.v)
		within(t, "log Z of equal", logZ, math.Log(z), 1e-13)
		within(t, "d1 of equal", d1, alpha, 1e-12)
		within(t, "d2 of equal", d2, (a0*phi(a0)-a1*phi(a1))/(r*r*z)-alpha*alpha, 1e-12)
	}
	// Without a band: docs/methods.md, section 2.1, row probit.
	z := 0.8 / math.Sqrt(3)
	within(t, "info without a band", Probit{NoiseStd: 1}.Info(0.8, 2), phi(z)*phi(z)/(3*cdf(z)*cdf(-z)), 1e-14)
}

// Derivatives by central differences, at v = 0 too.
func TestDerivatives(t *testing.T) {
	const h = 1e-4
	for _, test := range []struct {
		name string
		l    idrl.Likelihood
		a    idrl.Answer
	}{
		{"probit a", Probit{1, 0.3}, idrl.Answer{Choice: idrl.ChoseA}},
		{"probit b", Probit{1, 0.3}, idrl.Answer{Choice: idrl.ChoseB}},
		{"probit equal", Probit{1, 0.3}, idrl.Answer{Choice: idrl.Equal}},
		{"paper a", PlusMinus{0.25}, idrl.Answer{Choice: idrl.ChoseA}},
		{"paper b", PlusMinus{0.25}, idrl.Answer{Choice: idrl.ChoseB}},
		{"paper equal", PlusMinus{0.25}, idrl.Answer{Choice: idrl.Equal}},
		{"rating", Rating{0.05}, idrl.Answer{Choice: idrl.Rated, Rating: 0.3}},
		{"logistic a", BradleyTerry{2, 0}, idrl.Answer{Choice: idrl.ChoseA}},
		{"logistic b", BradleyTerry{2, 0}, idrl.Answer{Choice: idrl.ChoseB}},
		{"logistic a with ties", BradleyTerry{2, 0.4}, idrl.Answer{Choice: idrl.ChoseA}},
		{"logistic equal", BradleyTerry{2, 0.4}, idrl.Answer{Choice: idrl.Equal}},
		{"lapse", Lapse{Probit{1, 0.3}, 0.1, 3}, idrl.Answer{Choice: idrl.ChoseA}},
		{"lapse of a rating", Lapse{Rating{0.05}, 0.1, 0}, idrl.Answer{Choice: idrl.Rated, Rating: 0.3}},
		{"clipped rating", RatingClipped{0.05}, idrl.Answer{Choice: idrl.Rated, Rating: 0.3}},
		{"clipped rating, upper end", RatingClipped{0.5}, idrl.Answer{Choice: idrl.Rated, Rating: 1}},
		{"clipped rating, lower end", RatingClipped{0.5}, idrl.Answer{Choice: idrl.Rated, Rating: -1}},
	} {
		for _, v := range []float64{0, 0.5, 3} {
			for _, m := range []float64{-6, -1, 0, 0.2, 4} {
				lo, lo1, _ := test.l.LogZ(test.a, m-h, v)
				hi, hi1, _ := test.l.LogZ(test.a, m+h, v)
				_, d1, d2 := test.l.LogZ(test.a, m, v)
				within(t, fmt.Sprintf("%s d1 at m=%v v=%v", test.name, m, v), d1, (hi-lo)/(2*h), 1e-6*(1+math.Abs(d1)))
				within(t, fmt.Sprintf("%s d2 at m=%v v=%v", test.name, m, v), d2, (hi1-lo1)/(2*h), 1e-6*(1+math.Abs(d2)))
			}
		}
	}
}

// Far in the tails nothing overflows, and the variance of u stays positive.
func TestProbitTails(t *testing.T) {
	for _, p := range []Probit{{1, 0.25}, {1e-3, 1e-6}, {1, 0}, {1, 500}} {
		for _, v := range []float64{0, 1e-9, 1, 1e6} {
			r := math.Hypot(p.NoiseStd, math.Sqrt(v))
			for _, z := range []float64{-1e3, -300, -40, -9, 0, 3, 40, 1e3} {
				for _, choice := range []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal} {
					logZ, d1, d2 := p.LogZ(idrl.Answer{Choice: choice}, z*r, v)
					if p.TieBand == 0 && choice == idrl.Equal {
						logZ = 0 // an empty band has probability 0
					}
					if !finite(logZ, d1, d2) || d2 > 0 || 1+v*d2 < 0 {
						t.Errorf("%+v v=%v z=%v %s: log Z %v, d1 %v, d2 %v", p, v, z, choice, logZ, d1, d2)
					}
				}
				if w := p.Info(z*r, v); !(w >= 0 && w*v <= 1+1e-12) {
					t.Errorf("%+v v=%v z=%v: info %v", p, v, z, w)
				}
			}
		}
	}
}

// The bound of the information factor holds everywhere, and is near enough to it to
// be of use: at m = 0 without a band a probit's answer has 2/π of it, and so has a
// logistic's 3/4 where v = 0.
func TestMostInfo(t *testing.T) {
	within(t, "share of a probit", Probit{NoiseStd: 0.7}.Info(0, 2)/Probit{NoiseStd: 0.7}.MostInfo(2), 2/math.Pi, 1e-14)
	within(t, "share of a logistic", BradleyTerry{Beta: 1.3}.Info(0, 0)/BradleyTerry{Beta: 1.3}.MostInfo(0), 0.75, 1e-12)
	for _, scale := range []float64{0.1, 1, 10} {
		for _, band := range []float64{0, 0.01, 0.5, 3} {
			for _, l := range []interface {
				Info(m, v float64) float64
				MostInfo(v float64) float64
			}{Probit{scale, band}, BradleyTerry{scale, band}} {
				for _, v := range []float64{0, 1e-6, 0.1, 1, 30, 1e4} {
					for _, m := range []float64{-20, -3, -0.5, 0, 0.01, 1, 8} {
						if w, most := l.Info(m, v), l.MostInfo(v); w > most*(1+1e-9) {
							t.Errorf("%+v at m=%v v=%v: info %v is above its bound %v", l, m, v, w, most)
						}
					}
				}
			}
		}
	}
}

// A rating and the paper's ±1: E_y[(∂ log Z/∂m)²] over y ~ N(m, v + noise).
func TestGaussianInfo(t *testing.T) {
	const m, v, noise = 0.3, 0.8, 0.25
	n := distuv.Normal{Mu: m, Sigma: math.Sqrt(v + noise)}
	want := integrate(func(y float64) float64 {
		_, d1, _ := Rating{noise}.LogZ(idrl.Answer{Choice: idrl.Rated, Rating: y}, m, v)
		return n.Prob(y) * d1 * d1
	}, m-12*n.Sigma, m+12*n.Sigma)
	within(t, "info of a rating", Rating{noise}.Info(m, v), want, 1e-12)
	within(t, "info of ±1", PlusMinus{noise}.Info(m, v), want, 1e-12)
	logZ, _, _ := PlusMinus{noise}.LogZ(idrl.Answer{Choice: idrl.ChoseB}, m, v)
	within(t, "density of −1", logZ, n.LogProb(-1), 1e-14)
}

func TestLikelihoodsRefuse(t *testing.T) {
	rated := idrl.Answer{Choice: idrl.Rated}
	for name, l := range map[string]idrl.Likelihood{
		"probit": Probit{1, 1}, "paper": PlusMinus{1}, "bernoulli": BernoulliLinear{}, "logistic": BradleyTerry{1, 1},
		"lapse": Lapse{Probit{1, 1}, 0.1, 3},
	} {
		if !panics(func() { l.LogZ(rated, 0, 1) }) {
			t.Errorf("%s took a rating", name)
		}
		if panics(func() { l.LogZ(idrl.Answer{Choice: idrl.Equal}, 0, 1) }) {
			t.Errorf("%s refused 'equal'", name)
		}
	}
	for name, l := range map[string]idrl.Likelihood{"rating": Rating{1}, "clipped": RatingClipped{1}} {
		if !panics(func() { l.LogZ(idrl.Answer{Choice: idrl.ChoseA}, 0, 1) }) {
			t.Errorf("%s took choice a", name)
		}
		if panics(func() { l.LogZ(rated, 0, 1) }) {
			t.Errorf("%s refused a rating", name)
		}
	}
}

func TestLikelihoodsDoNotAllocate(t *testing.T) {
	for _, l := range []idrl.Likelihood{Probit{1, 0.25}, BradleyTerry{1, 0.25}, BernoulliLinear{}, Lapse{Probit{1, 0.25}, 0.1, 3}, Graded{Probit{1, 0.25}, 2}, Lapse{Graded{BradleyTerry{1, 0.25}, 2}, 0.1, 5}} {
		if n := testing.AllocsPerRun(100, func() {
			l.Info(0.4, 1)
			l.LogZ(idrl.Answer{Choice: idrl.Equal}, 0.4, 1)
		}); n != 0 {
			t.Errorf("%T: %v allocations, want 0", l, n)
		}
	}
}

func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.15g, want %.15g (± %.1g)", what, got, want, tol)
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func BenchmarkInfo(b *testing.B) {
	for _, l := range []idrl.Likelihood{Probit{1, 0.25}, BradleyTerry{1, 0}, BradleyTerry{1, 0.25}, BradleyTerry{30, 0.01}, Lapse{Rating{0.05}, 0.1, 0}} {
		b.Run(fmt.Sprintf("%T%v", l, l), func(b *testing.B) {
			for b.Loop() {
				l.Info(0.4, 1)
			}
		})
	}
}

func BenchmarkProbitLogZ(b *testing.B) {
	for _, choice := range []idrl.Choice{idrl.ChoseA, idrl.Equal} {
		b.Run(string(choice), func(b *testing.B) {
			for b.Loop() {
				Probit{1, 0.25}.LogZ(idrl.Answer{Choice: choice}, 0.4, 1)
			}
		})
	}
}
