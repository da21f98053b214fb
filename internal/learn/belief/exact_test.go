package belief

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// ratingsOf is a log of ratings cut to the scale.
func ratingsOf(n, d int, seed uint64, noise float64) (qs []idrl.QueryVector, as []idrl.Answer) {
	stream := rng.New(seed, "ratings", 0)
	truth := normals(d, stream)
	for range n {
		x := normals(d, stream)
		y := floats.Dot(x, truth) + noise*stream.NormFloat64()
		qs, as = append(qs, rating(x...)), append(as, rate(min(1, max(-1, y))))
	}
	return qs, as
}

// importance returns the moments of the exact posterior, from draws of a t
// distribution about g that are weighted, and the share of the draws that count.
func importance(m Model, g *Gaussian, qs []idrl.QueryVector, as []idrl.Answer, draws int) (mean, std []float64, share float64) {
	const dof, wide = 8, 1.2
	d := g.Dim()
	stream := rng.New(1, "importance", 0)
	prior, about := newDensity(m.Start), newDensity(g)
	thetas, logs := make([][]float64, draws), make([]float64, draws)
	for k := range thetas {
		chi := 0.0
		for range dof {
			z := stream.NormFloat64()
			chi += z * z / dof
		}
		theta := g.Sample(nil, stream)
		floats.Sub(theta, g.mean)
		floats.Scale(wide/math.Sqrt(chi), theta)
		floats.Add(theta, g.mean)
		l := -0.5*prior.distance(theta) + 0.5*(dof+float64(d))*math.Log1p(about.distance(theta)/(dof*wide*wide))
		for i, a := range as {
			l += logGiven(m, qs[i], a, theta)
		}
		thetas[k], logs[k] = theta, l
	}
	floats.AddConst(-floats.LogSumExp(logs), logs)
	mean, std = make([]float64, d), make([]float64, d)
	squares := 0.0
	for k, theta := range thetas {
		w := math.Exp(logs[k])
		squares += w * w
		floats.AddScaled(mean, w, theta)
	}
	for k, theta := range thetas {
		for i := range std {
			std[i] += math.Exp(logs[k]) * (theta[i] - mean[i]) * (theta[i] - mean[i])
		}
	}
	for i := range std {
		std[i] = math.Sqrt(std[i])
	}
	return mean, std, 1 / squares / float64(draws)
}

// logGiven returns the log probability of an answer given the weights.
func logGiven(m Model, q idrl.QueryVector, a idrl.Answer, theta []float64) (logZ float64) {
	if !q.Kind.Group() {
		logZ, _, _ = m.Likelihood(q.Query).LogZ(a, floats.Dot(q.X, theta), 0)
		return logZ
	}
	u := make([]float64, len(q.Each)-1)
	for i := range u {
		u[i] = floats.Dot(q.Each[i+1], theta) - floats.Dot(q.Each[0], theta)
	}
	logZ, _, _ = m.Group.LogZ(q.Place(a.Best), q.Place(a.Worst), u, mat.NewSymDense(len(u), nil))
	return logZ
}

// density gives (θ − mean)ᵀ Σ⁻¹ (θ − mean) of a belief.
type density struct{ g *Gaussian }

func newDensity(g *Gaussian) density {
	g.factorOnce.Do(g.factorise)
	return density{g: g}
}

// distance returns |z|² for the standard normal numbers z that give θ = μ + Lz.
func (p density) distance(theta []float64) (sum float64) {
	d := len(theta)
	z := floats.SubTo(make([]float64, d), theta, p.g.mean)
	for i := range d {
		for j := range i {
			z[i] -= p.g.factor.Data[i*p.g.factor.Stride+j] * z[j]
		}
		z[i] /= p.g.factor.Data[i*p.g.factor.Stride+i]
		sum += z[i] * z[i]
	}
	return sum
}

// In four dimensions the exact posterior is known by importance sampling: the fit has
// its mean to a tenth of a standard deviation and its standard deviations to a sixth,
// for every likelihood, and updates one by one are further off on the whole.
func TestFitIsNearTheExactPosteriorInFourDimensions(t *testing.T) {
	const d, n, draws = 4, 30, 40_000
	p := Probit{NoiseStd: 0.6, TieBand: 0.2}
	for _, test := range []struct {
		name string
		m    Model
	}{
		{"probit", Model{Comparison: p}},
		{"logistic", Model{Comparison: BradleyTerry{Beta: slope / 0.6, TieWidth: 0.2}}},
		{"lapses", Model{Comparison: Lapse{Of: p, Rate: 0.1, Outcomes: 3}}},
		{"ratings", Model{Rating: RatingClipped{NoiseVar: 0.05}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var off, offOnce float64
			for seed := range uint64(4) {
				m := test.m
				m.Start = Isotropic(d, 1)
				qs, as := answersLog(n, d, seed, p)
				if m.Rating != nil {
					qs, as = ratingsOf(n, d, seed, math.Sqrt(0.05))
				}
				g, report := fitted(t, m, qs, as, epOptions{})
				if !report.Converged {
					t.Errorf("seed %d: report %+v", seed, report)
				}
				mean, std, share := importance(m, g, qs, as, draws)
				if share < 0.1 {
					t.Fatalf("seed %d: only %.0f %% of the draws count", seed, 100*share)
				}
				once := updateAll(t, m, qs, as).(*Gaussian)
				for k := range d {
					shift, scale := math.Abs(g.mean[k]-mean[k])/std[k], math.Sqrt(g.cov[k*d+k])/std[k]
					if shift > 0.1 || scale < 5./6 || scale > 6./5 {
						t.Errorf("seed %d: weight %d is %.3f ± %.3f, exactly %.3f ± %.3f", seed, k, g.mean[k], math.Sqrt(g.cov[k*d+k]), mean[k], std[k])
					}
					off += shift / 4 / d
					offOnce += math.Abs(once.mean[k]-mean[k]) / std[k] / 4 / d
				}
			}
			t.Logf("means are off by %.3f standard deviations, by updates alone %.3f", off, offOnce)
			if off > offOnce {
				t.Error("updates alone are nearer")
			}
		})
	}
}

// Whatever the answers, a fit has a positive definite covariance, and it has converged
// or says that it has not.
func FuzzFit(f *testing.F) {
	f.Add(uint64(1), uint8(20), uint8(3), uint8(0), 0.5, 0.1)
	f.Add(uint64(2), uint8(60), uint8(2), uint8(1), 0.02, 0.3)
	f.Add(uint64(3), uint8(40), uint8(5), uint8(2), 4.0, 0.01)
	f.Add(uint64(4), uint8(30), uint8(4), uint8(3), 0.05, 0.5)
	f.Add(uint64(5), uint8(80), uint8(1), uint8(4), 0.01, 0.9)
	f.Fuzz(func(t *testing.T, seed uint64, n, d, kind uint8, noise, rate float64) {
		if !(noise >= 1e-3 && noise <= 1e3) || !(rate >= 0 && rate <= 0.95) || d == 0 || d > 12 {
			return
		}
		p := Probit{NoiseStd: noise, TieBand: noise / 4}
		m := Model{Start: correlated(t, int(d), rng.New(seed, "prior", 0)), Comparison: p, Rating: RatingClipped{NoiseVar: noise * noise}}
		switch kind % 5 {
		case 1:
			m.Comparison = Lapse{Of: p, Rate: rate, Outcomes: 3}
		case 2:
			m.Comparison = BradleyTerry{Beta: slope / noise, TieWidth: noise / 4}
		case 3:
			m.Comparison = BernoulliLinear{}
		}
		stream := rng.New(seed, "any", 0)
		var qs []idrl.QueryVector
		var as []idrl.Answer
		for range n { // answers at random: they contradict one another
			x := normals(int(d), stream)
			if kind%5 == 4 {
				qs, as = append(qs, rating(x...)), append(as, rate4(stream.IntN(5)))
				continue
			}
			c := []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}[stream.IntN(3)]
			qs, as = append(qs, comparison(x...)), append(as, idrl.Answer{Choice: c})
		}
		posterior, report, err := m.Fit(t.Context(), m.Start, qs, as)
		if err != nil {
			t.Fatal(err)
		}
		sound(t, fmt.Sprintf("after %d answers (%+v)", n, report), posterior.(*Gaussian))
		if report.Converged != (report.Change <= 1e-6 && report.Skipped == 0) || report.Answers != int(n) {
			t.Errorf("report %+v of %d answers", report, n)
		}
		if !report.Converged && report.Sweeps < 100 && n > 0 {
			t.Errorf("gave up early: %+v", report)
		}
	})
}

// rate4 returns one of five ratings, the ends of the scale among them.
func rate4(k int) idrl.Answer { return rate(float64(k)/2 - 1) }
