package belief

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// suspected returns the fit of answers of one person, of whom it is judged as a whole whether that person clicks.
func suspected(t *testing.T, o Own, qs []idrl.QueryVector, as []idrl.Answer) *joining {
	t.Helper()
	sites := must.Get(o.of.sites(o.of.Start, qs, as))(t)
	var report idrl.FitReport
	f := must.Get(o.joining(o.Prior().(*Joint), sites, new([]*memberMemory)).again(t.Context(), []int{0}, &report))(t)
	f.judge()
	return f
}

// exactClicks returns the probability that one person clicks at random, by a sum over one weight and all manners.
func exactClicks(o Own, qs []idrl.QueryVector, as []idrl.Answer) float64 {
	const step = 0.1
	normal := distuv.Normal{Sigma: 1}
	var random, meant []float64
	for k := range o.list {
		clicks := o.kind(k) == randomAnswers
		for theta := -6.0; theta <= 6; theta += step {
			log := o.prior[k] + normal.LogProb(theta) + math.Log(step)
			for i := range qs {
				log += math.Log(max(1e-30, o.given(k, as[i], theta*qs[i].X[0], 0))) // rounded, it may be below 0
			}
			if clicks {
				random = append(random, log)
			} else {
				meant = append(meant, log)
			}
		}
	}
	return 1 / (1 + math.Exp(floats.LogSumExp(meant)-floats.LogSumExp(random)))
}

// Whether one person clicks is judged as the sum over all weights and manners does, by odds within a factor of two:
// filtering takes weights and manners for independent.
func TestClicksAreJudgedByAllAnswers(t *testing.T) {
	o := ownOf(t, Model{Start: Isotropic(1, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}}, idrl.CompareClips).Always()
	for seed := range uint64(6) {
		for _, lapse := range []float64{0, 0.5, 1} {
			t.Run(fmt.Sprint(seed, " ", lapse), func(t *testing.T) {
				stream := rng.New(seed, "clicks", 0)
				person := answerer{id: "a", noise: 1, tie: 0.25, std: 1, lapse: lapse, scale: 1}
				qs, as := answersOf(idrl.CompareClips, []answerer{person}, []float64{1.5}, 15, stream)
				f := suspected(t, o, qs, as)
				exact, got := exactClicks(o, qs, as), f.clicks.share
				t.Logf("probability of clicks %.4f, exact %.4f", got, exact)
				if odds := math.Log(got/(1-got)) - math.Log(exact/(1-exact)); !(math.Abs(odds) < math.Ln2) {
					t.Errorf("probability of clicks %.4f, want %.4f", got, exact)
				}
				said := f.joint(f.mixed(f.widened())).people[0]
				random, all := 0.0, 0.0
				for k, log := range said.logs {
					w := math.Exp(float64(log))
					if all += w; o.kind(k) == randomAnswers {
						random += w
					}
				}
				if math.Abs(random/all-got) > 1e-3 { // the faintest manners are rounded up
					t.Errorf("the belief says %.4f of clicks, want %.4f", random/all, got)
				}
			})
		}
	}
}

// The belief beside suspects is the mixture of what their answers say, and of what is known without them.
func TestMixtureOfClicks(t *testing.T) {
	o := ownOf(t, Model{Start: Isotropic(1, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}}, idrl.CompareClips).Always()
	stream := rng.New(1, "clicks", 1)
	qs, as := answersOf(idrl.CompareClips, []answerer{{id: "a", noise: 1, tie: 0.25, std: 1, scale: 1}}, []float64{1.5}, 15, stream)
	f := suspected(t, o, qs, as)
	f.clicks.share = 0.25
	g := f.widened()
	m, v := g.mean[0], g.cov[0]
	got := f.mixed(g)
	within(t, "mean", got.mean[0], 0.75*m, 1e-12)
	within(t, "variance", got.cov[0], 0.75*(v+m*m)+0.25-square(0.75*m), 1e-12)
	f.clicks.share = 0
	if f.mixed(g) != g {
		t.Error("without clicks the belief is another")
	}
}

// Somebody alone who clicks at random is found, and teaches nothing.
func TestOneWhoClicksIsFound(t *testing.T) {
	const d = 4
	o := ownOf(t, Model{Start: Isotropic(d, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}}, idrl.CompareClips).Always()
	for seed := range uint64(4) {
		stream := rng.New(seed, "clicks", 2)
		qs, as := answersOf(idrl.CompareClips, []answerer{{id: "a", lapse: 1, scale: 1}}, normals(d, stream), 400, stream)
		j := grown(t, o, qs, as)
		random, all := 0.0, 0.0
		for k, log := range j.people[0].logs {
			w := math.Exp(float64(log))
			if all += w; o.kind(k) == randomAnswers {
				random += w
			}
		}
		if random/all < 0.9 || floats.Norm(j.theta.mean, 2) > 0.3 {
			t.Errorf("seed %d: clicks with a probability of %.3f, weights %.3f", seed, random/all, j.theta.mean)
		}
	}
}
