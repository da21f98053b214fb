package belief

import (
	"context"
	"fmt"
	"math"

	"tiebreak/internal/idrl"
)

// epOptions are the settings of a fit by expectation propagation.
type epOptions struct {
	damping   float64 // share of a change that is made at first, in (0, 1]; 0 for 1
	sweeps    int     // over the answers, at most; 0 for 100
	tolerance float64 // of idrl.FitReport.Change, at which the sweeps end; 0 for 1e-6
}

// leastDamping is the share of a change that is made at least.
const leastDamping = 1. / 16

// A site is the Gaussian factor exp(ν u − τ u²/2), u = θ·x, that approximates the likelihood
// of an observation; for a group it is block.
type site struct {
	observation
	tau, nu float64
	block   *block // nil but for groups
}

// Fit returns the belief after all of some answers at once, given from, the belief
// before them, by expectation propagation: each answer is approximated by a Gaussian
// factor of its u, which is fitted repeatedly, given the factors of all other answers.
// Gaussian answers are exact after one sweep. The result does not depend on the order of
// the answers, up to the tolerance of 1e-6 standard deviations. as[i] answers
// qs[i], without withdrawals (record.Effective). The first sweep is Condition, answer by
// answer. A sweep costs O(n d²). The result is a function of the arguments.
//
// The share of a change that is made is halved, down to a sixteenth, each time that a
// sweep has greater changes than the one before. After 100 sweeps the fit ends; the report
// says whether it had converged. The belief is that of the last sweep.
//
// It panics if the numbers of qs and as differ, and returns errors as Condition does, and
// that of ctx when it is done. Source: docs/methods.md, section 2.2.
func (m Model) Fit(ctx context.Context, from idrl.Posterior, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, idrl.FitReport, error) {
	g, ok := from.(*Gaussian)
	if !ok {
		return nil, idrl.FitReport{}, fmt.Errorf("belief: fit of a %T", from)
	}
	out, report, err := m.ep(ctx, g, qs, as, epOptions{})
	if err != nil {
		return nil, report, err
	}
	return out, report, nil
}

// ep is Fit with its options. It returns an error of kind Invalid if one is out of
// range.
func (m Model) ep(ctx context.Context, from *Gaussian, qs []idrl.QueryVector, as []idrl.Answer, o epOptions) (*Gaussian, idrl.FitReport, error) {
	o = o.withDefaults()
	var report idrl.FitReport
	if !(o.damping > 0 && o.damping <= 1) || o.sweeps < 1 || !(o.tolerance > 0) {
		return nil, report, idrl.Errorf(idrl.Invalid, "a fit needs a damping in (0, 1], sweeps and a tolerance above zero; got %+v", o)
	}
	sites, err := m.sites(from, qs, as)
	if err != nil {
		return nil, report, err
	}
	g, damping, last := from, 1.0, math.Inf(1)
	report.Answers = len(sites)
	for report.Sweeps < o.sweeps && !report.Converged {
		if err := ctx.Err(); err != nil {
			return nil, report, err
		}
		report.Change, report.Skipped = 0, 0
		if err := m.sweep(g, sites, damping, &report); err != nil && report.Sweeps > 0 {
			break // answers that Condition accepts, a fit accepts; g is that of the last sweep
		} else if err != nil {
			return nil, report, err
		}
		g = product(from, sites, &report)
		report.Sweeps++
		report.Converged = report.Change <= o.tolerance && report.Skipped == 0
		damping = min(damping, o.damping) // the first sweep is that of updates
		if report.Sweeps > 2 && report.Change >= last {
			damping = max(leastDamping, damping/2)
		}
		last = report.Change
	}
	return g, report, nil
}

// withDefaults returns o with its zeros filled in.
func (o epOptions) withDefaults() epOptions {
	if o.damping == 0 {
		o.damping = 1
	}
	if o.sweeps == 0 {
		o.sweeps = 100
	}
	if o.tolerance == 0 {
		o.tolerance = 1e-6
	}
	return o
}

// sites returns the factor 1 for every observation.
func (m Model) sites(from *Gaussian, qs []idrl.QueryVector, as []idrl.Answer) (sites []site, err error) {
	if len(qs) != len(as) {
		panic("belief: queries and answers differ in number")
	}
	sites = make([]site, 0, len(as))
	var says []observation
	for i := range as {
		if err := m.fits(from, qs[i], as[i]); err != nil {
			return nil, fmt.Errorf("answer %d of %d: %w", i+1, len(as), err)
		}
		says = observations(says[:0], &qs[i], &as[i])
		for _, o := range says {
			s := site{observation: o}
			if s.query.Kind.Group() {
				s.block = newBlock(s.query.Each)
			}
			sites = append(sites, s)
		}
	}
	return sites, nil
}

// sweep fits every site once; g is the belief with all of them, and is not changed.
func (m Model) sweep(g *Gaussian, sites []site, damping float64, report *idrl.FitReport) error {
	g, sx := g.clone(), make([]float64, g.Dim())
	for i := range sites {
		s := &sites[i]
		if s.block != nil {
			if err := m.sweepBlock(g, s, damping, report); err != nil {
				return err
			}
			continue
		}
		x := s.query.X
		mean, v := idrl.Moments(g, x, g.mean, sx) // leaves Σx in sx
		tau, nu, ok, err := m.fit(*s, mean, v)
		if err != nil {
			return err
		}
		s.move(g, sx, normal{mean, v}, normal{nu, tau}, ok, damping, report)
	}
	return nil
}

// A normal is the mean and the variance of u, or, of a factor, ν and τ.
type normal struct{ m, v float64 }

// move moves s, and g with it, by a share of damping towards the factor to, where u has the
// moments is under g and sx is Σx, which it overwrites. If ok is false, or a variance would not be positive,
// it changes nothing.
func (s *site) move(g *Gaussian, sx []float64, is, to normal, ok bool, damping float64, report *idrl.FitReport) {
	dTau, dNu := to.v-s.tau, to.m-s.nu
	if !ok || !(1+damping*dTau*is.v > 0) {
		report.Skipped++
		return
	}
	report.Change = max(report.Change, math.Abs(dTau)*is.v, math.Abs(dNu-dTau*is.m)*math.Sqrt(is.v))
	s.tau += damping * dTau
	s.nu += damping * dNu
	g.multiply(s.query.X, sx, is.m, is.v, damping*dTau, damping*dNu)
}

// fit returns the factor that turns the belief about u without s into the one after the
// answer; N(mean, v) is the belief with s. ok is false if the belief without s, or after the
// answer, has no positive variance.
func (m Model) fit(s site, mean, v float64) (tau, nu float64, ok bool, err error) {
	left := 1 - s.tau*v
	if left <= 0 { // NaN is an error, which evaluate returns
		return 0, 0, false, nil
	}
	mean, v = (mean-v*s.nu)/left, v/left
	_, d1, d2, err := evaluate(m.Likelihood(s.query.Query), *s.answer, mean, v)
	if err != nil {
		return 0, 0, false, err
	}
	left = 1 + v*d2
	return -d2 / left, (d1 - mean*d2) / left, left > 0, nil
}

// multiply multiplies g, in place, with the factor exp(ν u − τ u²/2), u = θ·x, where
// u ~ N(m, v) and sx = Σx, which it overwrites. 1 + τ v must be positive.
func (g *Gaussian) multiply(x, sx []float64, m, v, tau, nu float64) {
	g.shift(x, sx, (nu-tau*m)/(1+tau*v), tau/(1+tau*v))
}

// product returns from times all sites, without the rounding errors of the steps in which
// the sites were found. Sites that widen the belief come last, so that every step is
// possible if the product is. A site that is not possible is set to 1 and counted as
// skipped.
func product(from *Gaussian, sites []site, report *idrl.FitReport) *Gaussian {
	g, sx := from.clone(), make([]float64, from.Dim())
	for _, widens := range []bool{false, true} {
		for i := range sites {
			s := &sites[i]
			if s.block != nil {
				g.multiplyBlock(s.block, widens, report)
				continue
			}
			if (s.tau < 0) != widens || s.tau == 0 && s.nu == 0 {
				continue
			}
			m, v := idrl.Moments(g, s.query.X, g.mean, sx)
			if !(1+s.tau*v > 0) {
				s.tau, s.nu = 0, 0
				report.Skipped++
				continue
			}
			g.multiply(s.query.X, sx, m, v, s.tau, s.nu)
		}
	}
	return g
}
