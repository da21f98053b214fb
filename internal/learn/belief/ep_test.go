package belief

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// answersLog is a log of comparisons answered by a probit annotator with ties.
func answersLog(n, d int, seed uint64, p Probit) (qs []idrl.QueryVector, as []idrl.Answer) {
	stream := rng.New(seed, "answers", 0)
	truth := normals(d, stream)
	for i := range n {
		x := normals(d, stream)
		u := floats.Dot(x, truth) + p.NoiseStd*stream.NormFloat64()
		a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint(i)), Choice: idrl.Equal}
		if u > p.TieBand {
			a.Choice = idrl.ChoseA
		} else if u < -p.TieBand {
			a.Choice = idrl.ChoseB
		}
		qs, as = append(qs, comparison(x...)), append(as, a)
	}
	return qs, as
}

func fitted(t *testing.T, m Model, qs []idrl.QueryVector, as []idrl.Answer, o epOptions) (*Gaussian, idrl.FitReport) {
	t.Helper()
	g, report, err := m.ep(t.Context(), m.Start, qs, as, o)
	if err != nil {
		t.Fatal(err)
	}
	return g, report
}

// Gaussian answers: the fit is the regression after one sweep, and a second finds
// nothing to do.
func TestFitOfGaussianAnswers(t *testing.T) {
	const d, n = 6, 40
	stream := rng.New(1, "gauss", 0)
	m := Model{Start: correlated(t, d, stream), Comparison: PlusMinus{0.25}, Rating: Rating{0.25}}
	x := mat.NewDense(n, d, normals(n*d, stream))
	y := make([]float64, n)
	qs, as := make([]idrl.QueryVector, n), make([]idrl.Answer, n)
	for i := range n {
		if i%2 == 0 {
			y[i] = 2*stream.Float64() - 1
			qs[i], as[i] = rating(x.RawRowView(i)...), rate(y[i])
		} else {
			y[i] = -1
			qs[i], as[i] = comparison(x.RawRowView(i)...), choseB
		}
	}
	mean, cov := regression(t, m.Start, x, y, 0.25)
	g, report := fitted(t, m, qs, as, epOptions{})
	if !floats.EqualApprox(g.mean, mean, 1e-10) || !floats.EqualApprox(g.cov, cov, 1e-11) {
		t.Error("the fit differs from the regression")
	}
	if report.Sweeps != 2 || !report.Converged || report.Change > 1e-10 {
		t.Errorf("report %+v, want convergence in the second sweep", report)
	}
}

// The order of the answers changes what one pass of updates teaches, but not the
// refit.
func TestFitDoesNotKnowTheOrder(t *testing.T) {
	const d, n = 4, 30
	for _, l := range []idrl.Likelihood{Probit{0.5, 0.2}, BradleyTerry{3, 0.2}, Lapse{Probit{0.5, 0.2}, 0.05, 3}, BernoulliLinear{}} {
		m := Model{Start: Isotropic(d, 0.5), Comparison: l}
		qs, as := answersLog(n, d, 2, Probit{0.5, 0.2})
		rqs, ras := slices.Clone(qs), slices.Clone(as)
		slices.Reverse(rqs)
		slices.Reverse(ras)
		once, reversed := updateAll(t, m, qs, as).(*Gaussian), updateAll(t, m, rqs, ras).(*Gaussian)
		if floats.Distance(once.mean, reversed.mean, math.Inf(1)) < 1e-3 {
			t.Errorf("%T: the log is too easy: two orders of updates agree", l)
		}
		tight := epOptions{sweeps: 200, tolerance: 1e-11}
		g, report := fitted(t, m, qs, as, tight)
		h, again := fitted(t, m, rqs, ras, tight)
		if !report.Converged || !again.Converged {
			t.Errorf("%T: reports %+v and %+v", l, report, again)
		}
		if !floats.EqualApprox(g.mean, h.mean, 1e-9) || !floats.EqualApprox(g.cov, h.cov, 1e-9) {
			t.Errorf("%T: the fit depends on the order: means %v and %v", l, g.mean, h.mean)
		}
		// What the defaults leave: far less than what the order of updates made.
		g, report = fitted(t, m, qs, as, epOptions{})
		if floats.Distance(g.mean, h.mean, math.Inf(1)) > 1e-3 || report.Skipped > 0 {
			t.Errorf("%T: after %d sweeps the mean is %v, at last %v; report %+v", l, report.Sweeps, g.mean, h.mean, report)
		}
	}
}

// What defines the fit: for every answer, the belief without its factor, times the
// answer itself, has the mean and variance of u that the belief has.
func TestFitIsAFixedPoint(t *testing.T) {
	p := Probit{0.5, 0.2}
	m := Model{Start: Isotropic(3, 1), Comparison: p}
	qs, as := answersLog(15, 3, 4, p)
	sites := must.Get(m.sites(m.Start, qs, as))(t)
	g := m.Start
	report := idrl.FitReport{}
	for report.Change = 1; report.Change > 1e-11; g = product(m.Start, sites, &report) {
		report.Change = 0
		must.Do(t, m.sweep(g, sites, 0.7, &report))
	}
	for i, s := range sites {
		others := product(m.Start, slices.Delete(slices.Clone(sites), i, i+1), &report)
		mean, v := others.moments(s.query.X)
		for _, o := range probitOutcomes(p) {
			if o.answer.Choice != s.answer.Choice {
				continue
			}
			_, mean, v := moments(o.given, mean, v)
			gotMean, gotV := g.moments(s.query.X)
			within(t, fmt.Sprintf("mean of answer %d", i), gotMean, mean, 1e-9)
			within(t, fmt.Sprintf("variance of answer %d", i), gotV, v, 1e-9)
		}
	}
}

// In two dimensions the exact posterior is integrated on a grid. The fit has its
// mean to 1 % of a prior standard deviation, and is a few times nearer than one pass
// of updates; its variances, where the posterior is skewed, to a fifth of the exact.
func TestFitIsNearTheExactPosterior(t *testing.T) {
	p := Probit{NoiseStd: 0.6, TieBand: 0.2}
	var off, offOnce float64
	for seed := range uint64(4) {
		m := Model{Start: correlated(t, 2, rng.New(seed, "prior", 0)), Comparison: p}
		qs, as := answersLog(20, 2, seed, p)
		outcomes := probitOutcomes(p)
		mean, cov := gridMoments(t, m.Start, func(theta []float64) float64 {
			f := 1.0
			for i, a := range as {
				u := floats.Dot(qs[i].X, theta)
				switch a.Choice {
				case idrl.ChoseA:
					f *= outcomes[0].given(u)
				case idrl.ChoseB:
					f *= outcomes[1].given(u)
				default:
					f *= outcomes[2].given(u)
				}
			}
			return f
		})
		g, report := fitted(t, m, qs, as, epOptions{})
		scale := math.Sqrt(max(m.Start.cov[0], m.Start.cov[3]))
		if !floats.EqualApprox(g.mean, mean, 0.01*scale) || math.Abs(g.cov[0]/cov[0]-1) > 0.2 || math.Abs(g.cov[3]/cov[3]-1) > 0.2 {
			t.Errorf("seed %d: N(%v, %v), exactly N(%v, %v); report %+v", seed, g.mean, g.cov, mean, cov, report)
		}
		once := updateAll(t, m, qs, as).(*Gaussian)
		off += floats.Distance(g.mean, mean, 2) / scale
		offOnce += floats.Distance(once.mean, mean, 2) / scale
	}
	if off > 0.2*offOnce {
		t.Errorf("means are off by %v, after one pass by %v", off, offOnce)
	}
}

// A withdrawn answer leaves no trace: the fit of what is effective is, to the
// bit, that of a log without it; and not that of the log with it.
func TestFitAfterWithdrawal(t *testing.T) {
	m := Model{Start: Isotropic(3, 1), Comparison: Probit{0.5, 0.2}}
	qs, as := answersLog(12, 3, 3, Probit{0.5, 0.2})
	byID := func(a idrl.Answer) idrl.QueryVector {
		return qs[slices.IndexFunc(as, func(b idrl.Answer) bool { return b.ID == a.ID })]
	}
	log := append(slices.Clone(as), idrl.Answer{ID: "undo", Undoes: as[4].ID})
	var kept []idrl.QueryVector
	for _, a := range record.Effective(log) {
		kept = append(kept, byID(a))
	}
	got, _ := fitted(t, m, kept, record.Effective(log), epOptions{})
	want, _ := fitted(t, m, slices.Delete(slices.Clone(qs), 4, 5), slices.Delete(slices.Clone(as), 4, 5), epOptions{})
	with, _ := fitted(t, m, qs, as, epOptions{})
	if !floats.Equal(got.mean, want.mean) || !floats.Equal(got.cov, want.cov) {
		t.Error("the withdrawn answer left a trace")
	}
	if floats.EqualApprox(got.mean, with.mean, 1e-3) {
		t.Error("the withdrawn answer said nothing")
	}
}

func TestFitOfNothing(t *testing.T) {
	m := model(2)
	g, report := fitted(t, m, []idrl.QueryVector{comparison(1, 0)}, []idrl.Answer{{Choice: idrl.CantTell}}, epOptions{})
	if !floats.Equal(g.mean, m.Start.mean) || !floats.Equal(g.cov, m.Start.cov) || !report.Converged {
		t.Errorf("N(%v, %v), report %+v; want the prior", g.mean, g.cov, report)
	}
	g, report = fitted(t, m, []idrl.QueryVector{comparison(0, 0)}, []idrl.Answer{choseA}, epOptions{})
	if !floats.Equal(g.mean, m.Start.mean) || !floats.Equal(g.cov, m.Start.cov) || !report.Converged {
		t.Errorf("N(%v, %v), report %+v; want the prior", g.mean, g.cov, report)
	}
}

func TestFitRefuses(t *testing.T) {
	m := model(2)
	q, a := []idrl.QueryVector{comparison(1, 0)}, []idrl.Answer{choseA}
	for _, o := range []epOptions{{damping: -1}, {damping: 1.5}, {damping: math.NaN()}, {sweeps: -1}, {tolerance: math.NaN()}} {
		if _, _, err := m.ep(t.Context(), m.Start, q, a, o); idrl.KindOf(err) != idrl.Invalid || err == nil {
			t.Errorf("%+v: error %v, want one of kind Invalid", o, err)
		}
	}
	if _, _, err := m.Fit(t.Context(), m.Start, q, []idrl.Answer{rate(0)}); idrl.KindOf(err) != idrl.Invalid || err == nil {
		t.Errorf("a rating for a comparison: error %v", err)
	}
	if _, _, err := m.Fit(t.Context(), m.Start, []idrl.QueryVector{comparison(1e300, 0)}, a); err == nil {
		t.Error("features so large that their variance is not finite passed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := m.Fit(ctx, m.Start, q, a); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if !panics(func() { m.Fit(t.Context(), m.Start, q, nil) }) {
		t.Error("a query without an answer passed")
	}
}

// A site that cannot be taken out of the belief is left as it is: with lapses, a
// belief about u may owe more than all its precision to one answer.
func TestFitSkipsNegativeCavities(t *testing.T) {
	m := Model{Start: Isotropic(1, 1), Comparison: Probit{1, 0.1}}
	q, a := comparison(1), choseA
	s := site{observation: observation{&q, &a}, tau: 2}
	if _, _, ok, err := m.fit(s, 0, 1); ok || err != nil {
		t.Errorf("fit without a positive variance: %v, error %v", ok, err)
	}
	var report idrl.FitReport
	sites := []site{s}
	if err := m.sweep(m.Start, sites, 1, &report); err != nil || report.Skipped != 1 || sites[0].tau != 2 {
		t.Errorf("report %+v, site %+v, error %v; want the site as it was", report, sites[0], err)
	}
}

func updateAll(t *testing.T, m updating, qs []idrl.QueryVector, as []idrl.Answer) idrl.Posterior {
	t.Helper()
	p := m.Prior()
	for i, a := range as {
		var err error
		if p, err = m.Condition(p, qs[i], a); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// updating is a model, as far as updateAll goes.
type updating interface {
	Prior() idrl.Posterior
	Condition(p idrl.Posterior, q idrl.QueryVector, a idrl.Answer) (idrl.Posterior, error)
}
