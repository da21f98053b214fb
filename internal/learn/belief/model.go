package belief

import (
	"fmt"

	"tiebreak/internal/idrl"
)

// PaperNoiseVar is the variance that the paper's experiments give to an answer
// of ±1. Source: docs/paper-code.md, section 2.
const PaperNoiseVar = 0.25

// Model says how answers change a Gaussian belief.
type Model struct {
	Start      *Gaussian       // before the first answer; required
	Comparison idrl.Likelihood // of the answer to a comparison; required for comparisons
	Rating     idrl.Likelihood // of the answer to a rating; required for ratings
	Remark     idrl.Likelihood // of a remark, as answer a (both good) or b (both bad); required for remarks
	Group      BestWorst       // of the answer to a group; required for groups
	OfGroups   bool            // all questions are about groups, whose answers take long to fit
	OffScale   bool            // a rating may lie outside [-1, 1], as of a simulated expert with unbounded noise
}

var _ idrl.RewardModel = Model{}

// Beside returns m with more weights after the others and independent of them, with prior mean 0 and
// standard deviations stds, which must be positive. m itself is returned for none.
func (m Model) Beside(stds []float64) Model {
	if len(stds) == 0 {
		return m
	}
	d := m.Start.Dim()
	n := d + len(stds)
	start := blank(n)
	copy(start.mean, m.Start.mean)
	for i := range d {
		copy(start.cov[i*n:i*n+d], m.Start.cov[i*d:(i+1)*d])
	}
	for i, std := range stds {
		start.cov[(d+i)*n+d+i] = std * std
	}
	m.Start = start
	return m
}

// Prior returns the belief before the first answer.
func (m Model) Prior() idrl.Posterior { return m.Start }

// Grouped reports OfGroups.
func (m Model) Grouped() bool { return m.OfGroups }

// Groups returns the likelihood of the answer to a group.
func (m Model) Groups() idrl.GroupLikelihood { return m.Group }

// Likelihood returns the likelihood of the answer to q, which is not a group.
func (m Model) Likelihood(q idrl.Query) idrl.Likelihood {
	switch {
	case q.Kind == idrl.Average:
		return m.Remark
	case q.Kind.Comparison():
		return m.Comparison
	}
	return m.Rating
}

// Condition returns the belief after answer a to q; p is unchanged. An answer that
// is not informative leaves the belief as it is. It returns an error of kind
// Invalid if a does not fit q or q does not fit p, and one of kind Internal if
// p is not a *Gaussian.
func (m Model) Condition(p idrl.Posterior, q idrl.QueryVector, a idrl.Answer) (idrl.Posterior, error) {
	g, ok := p.(*Gaussian)
	if !ok {
		return nil, fmt.Errorf("belief: update of a %T", p)
	}
	if err := m.fits(g, q, a); err != nil {
		return nil, err
	}
	if q.Kind.Group() && a.Informative() {
		out := g.clone()
		_, err := m.absorbGroup(out, q, a)
		return out, err
	}
	for _, o := range observations(nil, &q, &a) {
		mean, v := g.moments(o.query.X)
		_, d1, d2, err := evaluate(m.Likelihood(o.query.Query), *o.answer, mean, v)
		if err != nil {
			return nil, err
		}
		g = g.Condition(o.query.X, d1, -d2)
	}
	return g, nil
}

// evaluate is l.LogZ, with an error where the derivatives are not finite.
func evaluate(l idrl.Likelihood, a idrl.Answer, m, v float64) (logZ, d1, d2 float64, err error) {
	if finite(m, v) {
		logZ, d1, d2 = l.LogZ(a, m, v)
	}
	if !finite(m, v, d1, d2) {
		err = beyond(a, m, v)
	}
	return logZ, d1, d2, err
}

// ConditionOnPending implements idrl.RewardModel. It panics if p is not a *Gaussian or a
// query does not fit it.
func (m Model) ConditionOnPending(p idrl.Posterior, qs ...idrl.QueryVector) idrl.Posterior {
	g := p.(*Gaussian)
	if len(qs) == 0 {
		return g
	}
	out, sx := g.clone(), make([]float64, g.Dim())
	for _, q := range qs {
		if q.Kind.Group() {
			out.expectGroup(m.Group, newBlock(q.Each))
			continue
		}
		mean, v := idrl.Moments(out, q.X, out.mean, sx) // leaves Σx in sx
		out.shift(q.X, sx, 0, m.Likelihood(q.Query).Info(mean, v))
	}
	return out
}

// moments returns the mean and variance of θ·x.
func (g *Gaussian) moments(x []float64) (m, v float64) {
	return idrl.Moments(g, x, g.mean, make([]float64, len(g.mean)))
}

// A checker is a likelihood that does not accept every answer to its kind of question.
type checker interface {
	// check returns an error of kind Invalid if it does not accept a.
	check(a idrl.Answer) error
}

// fits returns an error of kind Invalid if q does not fit g or a does not fit q.
func (m Model) fits(g *Gaussian, q idrl.QueryVector, a idrl.Answer) error {
	if q.Kind.Group() {
		return fitsGroup(g, q, a)
	}
	switch rated := a.Choice == idrl.Rated; {
	case len(q.X) != g.Dim():
		return idrl.Errorf(idrl.Invalid, "query %s has %d features but the belief has %d", q.ID, len(q.X), g.Dim())
	case !finite(q.X...):
		return idrl.Errorf(idrl.Invalid, "query %s has features that are not finite", q.ID)
	case a.Informative() && rated == q.Kind.Comparison(), a.Choice == idrl.BestWorst:
		return idrl.Errorf(idrl.Invalid, "choice %q does not answer a %s", a.Choice, q.Kind)
	case a.Remark != "" && (len(q.Mid) != g.Dim() || m.Remark == nil):
		return idrl.Errorf(idrl.Invalid, "a remark goes with a comparison of a session that takes remarks; query %s is none", q.ID)
	case !finite(q.Mid...):
		return idrl.Errorf(idrl.Invalid, "query %s has features that are not finite", q.ID)
	case rated && !m.OffScale && !(a.Rating >= -1 && a.Rating <= 1):
		return idrl.Errorf(idrl.Invalid, "rating %v is off the scale; send a number from -1 to 1", a.Rating)
	}
	if c, ok := m.Likelihood(q.Query).(checker); ok && a.Informative() {
		return c.check(a)
	}
	return nil
}
