package belief

import (
	"context"
	"fmt"
	"math"

	"tiebreak/internal/idrl"
)

// EPOptions are the settings of Refit.
type EPOptions struct {
	Damping   float64 // share of a change that is made after the first sweep, in (0, 1]; 0 for 0.7
	Sweeps    int     // over the answers, at most; 0 for 10
	Tolerance float64 // of EPReport.Change, at which the sweeps end; 0 for 1e-6
}

// EPReport says how a refit went.
type EPReport struct {
	Sweeps    int  // that were made
	Converged bool // Change ≤ Tolerance and Skipped = 0

	// Change is the greatest change that an answer asked for in the last sweep, of
	// the mean of its u in standard deviations or of its precision in that of u.
	Change float64

	// Skipped counts the answers left as they were in the last sweep, because
	// without them the belief about u had no positive variance.
	Skipped int
}

// A site is the Gaussian factor exp(ν u − τ u²/2), u = θ·x, that stands for an
// answer.
type site struct {
	query   idrl.Query
	answer  idrl.Answer
	tau, nu float64
}

// Refit returns the belief after all answers at once, by expectation propagation:
// each answer is a Gaussian factor of its u, which is fitted, over and over, to
// what the answer says beside all the others. Gaussian answers are exact after one
// sweep; what the others teach no longer depends on their order. as[i] answers
// qs[i], without withdrawals (idrl.Effective). The first sweep is Update, answer
// by answer. A sweep costs O(n d²).
//
// It panics if the numbers of qs and as differ, and returns errors as Update does,
// one of kind Invalid if an option is out of range, and that of ctx when it is done.
// Source: docs/methods.md, section 2.2.
func (m Model) Refit(ctx context.Context, qs []idrl.Query, as []idrl.Answer, o EPOptions) (*Gaussian, EPReport, error) {
	o = o.withDefaults()
	if !(o.Damping > 0 && o.Damping <= 1) || o.Sweeps < 1 || !(o.Tolerance > 0) {
		return nil, EPReport{}, idrl.Errorf(idrl.Invalid, "a refit needs a damping in (0, 1], sweeps and a tolerance above zero; got %+v", o)
	}
	sites, err := m.sites(qs, as)
	if err != nil {
		return nil, EPReport{}, err
	}
	g, report := m.Start, EPReport{}
	for damping := 1.0; report.Sweeps < o.Sweeps && !report.Converged; damping = o.Damping {
		if err := ctx.Err(); err != nil {
			return nil, report, err
		}
		report.Change, report.Skipped = 0, 0
		if err := m.sweep(g, sites, damping, &report); err != nil {
			return nil, report, err
		}
		g = m.from(sites)
		report.Sweeps++
		report.Converged = report.Change <= o.Tolerance && report.Skipped == 0
	}
	return g, report, nil
}

// withDefaults returns o with its zeros filled in.
func (o EPOptions) withDefaults() EPOptions {
	if o.Damping == 0 {
		o.Damping = 0.7
	}
	if o.Sweeps == 0 {
		o.Sweeps = 10
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-6
	}
	return o
}

// sites returns a factor that says nothing for every informative answer.
func (m Model) sites(qs []idrl.Query, as []idrl.Answer) (sites []site, err error) {
	paired(qs, as)
	for i, a := range as {
		if err := m.fits(m.Start, qs[i], a); err != nil {
			return nil, fmt.Errorf("answer %d of %d: %w", i+1, len(as), err)
		}
		if a.Informative() {
			sites = append(sites, site{query: qs[i], answer: a})
		}
	}
	return sites, nil
}

// sweep fits every site once; g is the belief that goes with them.
func (m Model) sweep(g *Gaussian, sites []site, damping float64, report *EPReport) error {
	for i := range sites {
		s := &sites[i]
		mean, v := g.moments(s.query.X)
		tau, nu, ok, err := m.fit(*s, mean, v)
		if err != nil {
			return err
		}
		dTau, dNu := tau-s.tau, nu-s.nu
		if !ok || !(1+damping*dTau*v > 0) {
			report.Skipped++
			continue
		}
		report.Change = max(report.Change, math.Abs(dTau)*v, math.Abs(dNu-dTau*mean)*math.Sqrt(v))
		s.tau += damping * dTau
		s.nu += damping * dNu
		g = g.multiply(s.query.X, damping*dTau, damping*dNu)
	}
	return nil
}

// fit returns the factor with which the belief about u, without that of s, gets the
// mean and variance that the answer gives it; N(mean, v) is the belief with it. ok
// is false where the belief without s, or with the answer, has no positive
// variance.
func (m Model) fit(s site, mean, v float64) (tau, nu float64, ok bool, err error) {
	left := 1 - s.tau*v
	if left <= 0 { // NaN is an error, which evaluate returns
		return 0, 0, false, nil
	}
	mean, v = (mean-v*s.nu)/left, v/left
	_, d1, d2, err := evaluate(m.Likelihood(s.query), s.answer, mean, v)
	if err != nil {
		return 0, 0, false, err
	}
	left = 1 + v*d2
	return -d2 / left, (d1 - mean*d2) / left, left > 0, nil
}

// multiply returns g times the factor exp(ν u − τ u²/2), u = θ·x. 1 + τ Var[u]
// must be positive.
func (g *Gaussian) multiply(x []float64, tau, nu float64) *Gaussian {
	m, v := g.moments(x)
	return g.Observe(x, (nu-tau*m)/(1+tau*v), tau/(1+tau*v))
}

// from returns the prior times all sites, free of the rounding of the steps that led
// to them. Sites that widen the belief come last, so that every step is possible if
// the product is.
func (m Model) from(sites []site) *Gaussian {
	g := m.Start
	for _, s := range sites {
		if s.tau >= 0 {
			g = g.multiply(s.query.X, s.tau, s.nu)
		}
	}
	for _, s := range sites {
		if s.tau < 0 {
			g = g.multiply(s.query.X, s.tau, s.nu)
		}
	}
	return g
}
