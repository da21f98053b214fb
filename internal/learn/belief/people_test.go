package belief

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

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

func wideOf(logs []float32) (out []float64) {
	for _, l := range logs {
		out = append(out, float64(l))
	}
	return out
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
	switch c {
	case idrl.ChoseA:
		return above((p.TieBand - u) / p.NoiseStd)
	case idrl.ChoseB:
		return above((p.TieBand + u) / p.NoiseStd)
	}
	return 1 - above((p.TieBand-u)/p.NoiseStd) - above((p.TieBand+u)/p.NoiseStd)
}

// moments returns the mean and the covariance of the posterior, and the effective number of draws.
// Only weights on the side of from count: if all confuse the answers who do not, and the others do not, the opposite
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
	// wider along the mean
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
		next, err := h.With(context.Background(), posterior.ItemOf(&qs[i], a))
		if err != nil {
			t.Fatal(err)
		}
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
	// along: std of the projection Λ-wise
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

func TestMeasurePeople(t *testing.T) {
	runs, _ := strconv.Atoi(os.Getenv("RUNS"))
	if runs == 0 {
		t.Skip()
	}
	base, _ := strconv.Atoi(os.Getenv("BASE"))
	const d = 5
	m := Model{Start: Isotropic(d, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}}
	o := ownOf(t, m, idrl.CompareClips)
	for _, c := range []struct {
		people, bad int
		kind        string
	}{{1, 0, "-"}, {3, 0, "-"}, {5, 0, "-"}, {3, 1, "random"}, {3, 1, "reversed"}, {5, 1, "reversed"}, {5, 2, "reversed"}, {5, 1, "random"}, {5, 1, "half"}} {
		if f := os.Getenv("CASE"); f != "" && f != fmt.Sprint(c.people, c.bad, c.kind) {
			continue
		}
		for _, n := range []int{25, 75, 125} {
			var sums [2]struct {
				off, worst, ratio, least, most, along, cos float64
				wide                                       int
			}
			eff, truthCos := math.Inf(1), 0.0
			for run := range runs {
				stream := rng.New(uint64(base+run), "people", uint64(c.people*10+c.bad))
				truth := normals(d, stream)
				qs, as := make([]idrl.QueryVector, 0, n), make([]idrl.Answer, 0, n)
				people := crowd(c.people, c.bad, c.kind)
				for k := range n {
					q := idrl.QueryVector{Query: idrl.Query{ID: "q", Kind: idrl.CompareClips}, X: normals(d, stream)}
					p := people[k%len(people)]
					u := floats.Dot(q.X, truth)
					if p.scale < 0 {
						u = -u
					}
					qs, as = append(qs, q), append(as, p.answer(idrl.CompareClips, u, stream))
				}
				own := o
				if c.people == 1 {
					own = o.Always()
				}
				fit := fitOwn(t, own, qs, as)
				live := grown(t, own, qs, as)
				mean, cov, effective := newExactPeople(own, qs, as).moments(fit.theta, truth, 6000, uint64(run))
				eff = min(eff, effective)
				truthCos += floats.Dot(mean, truth) / floats.Norm(mean, 2) / floats.Norm(truth, 2) / float64(runs)
				for i, j := range []*Joint{live, fit} {
					offs, ratios, along := off(j.theta, mean, cov)
					s := &sums[i]
					if s.least == 0 {
						s.least = 9
					}
					if os.Getenv("EACH") != "" {
						fmt.Printf("    run %d n %d %d: off %.3f ratios %.3f mean %.2f exact %.2f\n", run, n, i, offs, ratios, j.theta.mean, mean)
					}
					s.off += floats.Sum(offs) / d / float64(runs)
					s.worst = max(s.worst, floats.Max(offs))
					s.ratio += floats.Sum(ratios) / d / float64(runs)
					s.least, s.most = min(s.least, floats.Min(ratios)), max(s.most, floats.Max(ratios))
					s.along += along / float64(runs)
					s.cos += floats.Dot(j.theta.mean, truth) / floats.Norm(j.theta.mean, 2) / floats.Norm(truth, 2) / float64(runs)
				}
			}
			for i, name := range []string{"live", "fit "} {
				s := sums[i]
				fmt.Printf("%d people %d %-8s n=%-3d %s off mean %.3f max %.3f  std ratio %.3f [%.3f %.3f] along mean %.3f  cos truth %.3f (exact %.3f)  eff %.0f\n", c.people, c.bad, c.kind, n, name, s.off, s.worst, s.ratio, s.least, s.most, s.along, s.cos, truthCos, eff)
			}
		}
	}
}
