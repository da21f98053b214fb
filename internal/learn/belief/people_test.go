package belief

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// An exactPeople computes the posterior of answers to comparisons by importance sampling:
//
//	p(θ|D) ∝ p(θ) Π_a Σ_k w_k Π_i p_k(y_i|θ·x_i)
//
// with all manners k of each annotator a. It shares the grid with Own, and no formula of it.
type exactPeople struct {
	Own
	qs []idrl.QueryVector
	as []idrl.Answer

	places  map[idrl.AnnotatorID]int
	priors  []float64   // of the manners, logarithms
	product [][]float64 // by annotator and manner
}

func newExactPeople(o Own, qs []idrl.QueryVector, as []idrl.Answer) *exactPeople {
	e := &exactPeople{Own: o, qs: qs, as: as, places: map[idrl.AnnotatorID]int{}}
	for _, a := range as {
		if _, known := e.places[a.Annotator]; !known {
			e.places[a.Annotator] = len(e.product)
			e.product = append(e.product, make([]float64, len(o.list)))
		}
	}
	e.priors = o.priorAmong(len(e.product))
	return e
}

// log returns log p(θ, D), up to a constant.
func (e *exactPeople) log(theta []float64) float64 {
	out := -floats.Dot(theta, theta) / 2 // of a standard normal prior
	for _, p := range e.product {
		for k := range p {
			p[k] = 1
		}
	}
	shift := 0.0
	for i, a := range e.as {
		u := floats.Dot(theta, e.qs[i].X)
		p := e.product[e.places[a.Annotator]]
		last, meant := -1, 0.0
		for k, w := range e.list {
			if w.base != last && w.rate < 1 {
				last, meant = w.base, e.bases[w.base].chance(a.Choice, u)
			}
			q := 1.0 / 3
			if w.decided {
				q = (1 - rarelyEqual) / 2
				if a.Choice == idrl.Equal {
					q = rarelyEqual
				}
			}
			if w.rate == 1 {
				p[k] *= 2 * q
			} else {
				p[k] *= 2 * (w.rate*q + (1-w.rate)*meant)
			}
		}
		shift += math.Ln2
	}
	for _, p := range e.product {
		sum := 0.0
		for k := range p {
			sum += math.Exp(e.priors[k]) * p[k]
		}
		out += math.Log(sum)
	}
	return out - shift
}

// chance returns the probability of an answer that is meant.
func (b base) chance(c idrl.Choice, u float64) float64 {
	p := b.of.(Probit)
	u *= b.scale
	first, second := above((p.TieBand-u)/p.NoiseStd), above((p.TieBand+u)/p.NoiseStd)
	if c == idrl.ChoseA {
		return first
	}
	if c == idrl.ChoseB {
		return second
	}
	return 1 - first - second
}

// moments returns the mean and the covariance of the posterior, and the effective number of draws.
// Only weights on one side count: if all confuse the answers who do not, and the others do not, the opposite
// weights are nearly as probable, with the weight of the prior.
func (e *exactPeople) moments(from *Gaussian, side []float64, draws int, seed uint64) (mean []float64, cov *mat.SymDense, effective float64) {
	d := from.Dim()
	mean, cov = slices.Clone(from.mean), mat.NewSymDense(d, nil)
	unit := make([]float64, d)
	for i := range d {
		for j := range i + 1 {
			clear(unit)
			unit[i] = 1
			row := make([]float64, d)
			from.CovMul(row, unit)
			cov.SetSym(i, j, row[j])
		}
	}
	const rounds = 3
	for round := range rounds {
		stream := rng.New(seed, "importance", uint64(round))
		wide := mat.NewSymDense(d, nil)
		wide.ScaleSym(1.3, cov)
		if round == 0 {
			wide.SymRankOne(wide, 0.05, mat.NewVecDense(d, mean))
		}
		var chol mat.Cholesky
		if !chol.Factorize(wide) {
			panic("not positive")
		}
		var root mat.TriDense
		chol.LTo(&root)
		const freedom = 6.0
		n := draws
		if round < rounds-1 {
			n = draws / 3
		}
		logs, thetas := make([]float64, n), make([][]float64, n)
		for k := range n {
			z := normals(d, stream)
			chi := 0.0
			for range int(freedom) {
				chi += square(stream.NormFloat64())
			}
			s := math.Sqrt(freedom / chi)
			theta, zz := slices.Clone(mean), floats.Dot(z, z)*s*s
			for i := range d {
				for j := range i + 1 {
					theta[i] += root.At(i, j) * z[j] * s
				}
			}
			thetas[k] = theta
			logs[k] = math.Inf(-1)
			if floats.Dot(theta, side) > 0 {
				logs[k] = e.log(theta) + (freedom+float64(d))/2*math.Log1p(zz/freedom)
			}
		}
		floats.AddConst(-floats.LogSumExp(logs), logs)
		mean = make([]float64, d)
		squares := 0.0
		for k, theta := range thetas {
			w := math.Exp(logs[k])
			squares += w * w
			floats.AddScaled(mean, w, theta)
		}
		cov = mat.NewSymDense(d, nil)
		for k, theta := range thetas {
			cov.SymRankOne(cov, math.Exp(logs[k]), mat.NewVecDense(d, floats.SubTo(make([]float64, d), theta, mean)))
		}
		effective = 1 / squares
	}
	return mean, cov, effective
}

// grown returns the posterior of a session after answers, one by one.
func grown(t testing.TB, o Own, qs []idrl.QueryVector, as []idrl.Answer) *Joint {
	t.Helper()
	h := posterior.New(posterior.Config{Model: o})
	for i := range qs {
		a := as[i]
		a.Seq = int64(i + 1)
		next := must.Get(h.With(t.Context(), posterior.ItemOf(&qs[i], a)))(t)
		h = next
	}
	return h.Posterior().(*Joint)
}

// off compares a belief with exact moments: by weight, the distance of the means in standard
// deviations, and the ratios of standard deviations, and the one along the mean.
func off(g *Gaussian, mean []float64, cov *mat.SymDense) (offs, ratios []float64, along float64) {
	d := len(mean)
	unit, row := make([]float64, d), make([]float64, d)
	for k := range d {
		clear(unit)
		unit[k] = 1
		g.CovMul(row, unit)
		std := math.Sqrt(cov.At(k, k))
		offs = append(offs, math.Abs(g.mean[k]-mean[k])/std)
		ratios = append(ratios, math.Sqrt(row[k])/std)
	}
	_, v := g.moments(mean)
	m := mat.NewVecDense(d, mean)
	return offs, ratios, math.Sqrt(v / mat.Inner(m, cov, m))
}

// crowd returns people, the last bad ones of whom are of a kind.
func crowd(n, bad int, kind string) (out []answerer) {
	for k := range n {
		p := answerer{id: idrl.AnnotatorID(fmt.Sprint(k)), noise: []float64{1, 0.7, 1.4, 0.5, 1}[k%5], tie: 0.25, std: 1, lapse: []float64{0, 0.05, 0.1, 0, 0.05}[k%5], scale: 1}
		if k >= n-bad {
			switch kind {
			case "reversed":
				p.scale = -1
			case "random":
				p.lapse = 1
			case "half":
				p.lapse = 0.5
			}
		}
		out = append(out, p)
	}
	return out
}

// Of five weights the posterior of a session is near the exact one after 125 answers of several people, of whom
// some confuse the answers, click at random or lapse every second time: by fits from the beginning
// and by those of a session, answer by answer.
func TestPosteriorOfSeveralPeople(t *testing.T) {
	const d, n = 5, 125
	o := ownOf(t, Model{Start: Isotropic(d, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}}, idrl.CompareClips)
	for seed, test := range []struct {
		people, bad int
		kind        string
	}{{5, 0, ""}, {5, 1, "reversed"}, {5, 1, "random"}, {5, 1, "half"}, {3, 1, "reversed"}} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			stream := rng.New(uint64(seed), "several people", 0)
			truth, people := normals(d, stream), crowd(test.people, test.bad, test.kind)
			var qs []idrl.QueryVector
			var as []idrl.Answer
			for k := range n {
				x, p := normals(d, stream), people[k%len(people)]
				a := p.answer(idrl.CompareClips, p.scale*floats.Dot(x, truth), stream)
				a.Seq = int64(k + 1)
				qs, as = append(qs, idrl.QueryVector{Query: idrl.Query{ID: "q", Kind: idrl.CompareClips}, X: x}), append(as, a)
			}
			fit := fitOwn(t, o, qs, as)
			mean, cov, effective := newExactPeople(o, qs, as).moments(fit.theta, truth, 6000, 1)
			if effective < 1000 {
				t.Fatalf("the exact posterior is of %.0f draws", effective)
			}
			for name, j := range map[string]*Joint{"fit": fit, "session": grown(t, o, qs, as)} {
				offs, ratios, along := off(j.theta, mean, cov)
				t.Logf("%s: means off by %.3f standard deviations, standard deviations × %.2f, along the mean × %.2f", name, offs, ratios, along)
				most := 0.1
				if test.people == 3 {
					most = 0.25 // one of three confuses the answers, and two tell what is right
				}
				if floats.Max(offs) > most || floats.Min(ratios) < 0.85 || floats.Max(ratios) > 1.1 || along < 0.85 {
					t.Errorf("the %s is too far from the exact posterior", name)
				}
				for k, m := range o.Manners(j) {
					if is := k >= test.people-test.bad && test.kind == "reversed"; is != (m.Reversed > 0.5) {
						t.Errorf("the %s takes person %d to confuse the answers with probability %.2f", name, k, m.Reversed)
					}
				}
			}
		})
	}
}

// Answers of somebody who confuses them that a researcher turned are read as they count: nobody is taken for
// reversed, and the weights are those that the posterior had found without turning.
func TestTurnedAnswersCountOnce(t *testing.T) {
	const d, n = 4, 120
	o := ownOf(t, Model{Start: Isotropic(d, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}}, idrl.CompareClips)
	stream := rng.New(1, "turned", 0)
	people := crowd(4, 0, "")
	qs, as := answersOf(idrl.CompareClips, people, normals(d, stream), n, stream)
	given := slices.Clone(as)
	for i, a := range given {
		switch {
		case a.Annotator != "3":
		case a.Choice == idrl.ChoseA:
			given[i].Choice = idrl.ChoseB
		case a.Choice == idrl.ChoseB:
			given[i].Choice = idrl.ChoseA
		}
	}
	turned, found := fitOwn(t, o, qs, as), fitOwn(t, o, qs, given)
	if m := o.Manners(turned)[3].Reversed; m > 0.01 {
		t.Errorf("after turning the person is reversed with probability %.3f", m)
	}
	if m := o.Manners(found)[3].Reversed; m < 0.95 {
		t.Errorf("before turning the person is reversed with probability %.3f", m)
	}
	for k, m := range turned.theta.mean {
		if std := math.Sqrt(turned.theta.cov[k*d+k]); math.Abs(found.theta.mean[k]-m) > 0.25*std {
			t.Errorf("weight %d is %.3f with the answers turned and %.3f without, standard deviation %.3f", k, m, found.theta.mean[k], std)
		}
	}
}
