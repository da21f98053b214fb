package belief

import (
	"context"
	"fmt"
	"math"

	"tiebreak/internal/idrl"
)

// Own is a model of answers whose noise, rate of lapses and width of ties, and of ratings the
// offset and scale, are each annotator's own and are learnt along with θ. Its posteriors are
// of type *Joint. With w_ak the weight of manner k of annotator a, an answer has the
// likelihood
//
//	p(y|u) = Σ_k w_ak p_k(y|u)
//
// and afterwards w_ak ∝ w_ak Z_k(y), Z_k(y) = ∫ p_k(y|u) N(u; m, v) du: one step of assumed
// density filtering in θ and in the manners. Fit makes that expectation propagation in
// both. While one annotator alone has answered the noise is as the session is told: what an
// unknown noise costs there is more than what it brings. Source: docs/methods.md, section 2.4.
type Own struct {
	of     Model
	always bool // also of one annotator alone
	*manners
}

var (
	_ idrl.RewardModel = Own{}
	_ idrl.Personal    = Own{}
)

// Own returns the model of annotators around m for questions of a kind. ok is false where
// there is none: for likelihoods whose noise is not a number to vary ("gaussian" and
// "bernoulli").
func (m Model) Own(kind idrl.QueryKind) (out Own, ok bool) {
	g, ok := m.mannersOf(kind)
	return Own{of: m, manners: g}, ok
}

// Always returns o for statements of regret: the noise is not taken for known of one annotator
// alone either.
func (o Own) Always() Own {
	o.always = true
	return o
}

// told reports whether answers of who are as noisy as the session is told: nobody else has
// answered.
func (o Own) told(j *Joint, who idrl.AnnotatorID) bool {
	return !o.always && (len(j.people) == 0 || len(j.people) == 1 && j.people[0].id == who)
}

// likelihood returns that of answers to q of who, by j.
func (o Own) likelihood(j *Joint, who idrl.AnnotatorID, q idrl.Query) idrl.Likelihood {
	if o.told(j, who) {
		return o.of.Likelihood(q)
	}
	return o.blend(o.person(j, who))
}

// Prior returns the belief before the first answer.
func (o Own) Prior() idrl.Posterior { return &Joint{theta: o.of.Start} }

// person returns how annotator id answers under j.
func (o Own) person(j *Joint, id idrl.AnnotatorID) person {
	if i, known := j.find(id); known {
		return j.people[i]
	}
	return person{id: id, logs: rounded(append([]float64(nil), o.prior...)), offsetVar: o.offsetVar}
}

// Condition returns the belief after answer a to q, by one step of assumed density filtering;
// p is unchanged. An answer that is not informative leaves the belief as it is. It returns
// errors as Model.Condition does.
func (o Own) Condition(p idrl.Posterior, q idrl.QueryVector, a idrl.Answer) (idrl.Posterior, error) {
	j, ok := p.(*Joint)
	if !ok {
		return nil, fmt.Errorf("belief: update of a %T by a model of annotators", p)
	}
	if err := o.of.fits(j.theta, q, a); err != nil || !a.Informative() {
		return j, err
	}
	who := o.person(j, a.Annotator)
	if o.told(j, a.Annotator) {
		g, err := o.of.Condition(j.theta, q, a)
		if err != nil {
			return nil, err
		}
		return j.with(g.(*Gaussian), who), nil
	}
	var r reading
	g, logs := j.theta, who.wide()
	for _, seen := range observations(q, a) {
		m, v := g.moments(seen.query.X)
		if !finite(m, v) || !o.read(&r, seen, m, v, who.offset, who.offsetVar) {
			return nil, beyond(a, m, v)
		}
		push := o.mix(&r, logs)
		if !finite(push.logZ, push.d1, push.d2, push.offset1, push.offset2) {
			return nil, beyond(a, m, v)
		}
		for k := range logs {
			logs[k] += r.logs[k]
		}
		who.offset += who.offsetVar * push.offset1
		who.offsetVar += who.offsetVar * who.offsetVar * push.offset2
		g = g.Condition(seen.query.X, push.d1, -push.d2)
	}
	who.logs = rounded(logs)
	return j.with(g, who), nil
}

func beyond(a idrl.Answer, m, v float64) error {
	return fmt.Errorf("belief: answer %q at mean %v and variance %v is beyond computing", a.Choice, m, v)
}

// Groups returns nil: answers to groups share one noise.
func (o Own) Groups() idrl.GroupLikelihood { return nil }

// Likelihood returns the model of the answer to q of somebody of whom nothing is known.
func (o Own) Likelihood(q idrl.Query) idrl.Likelihood {
	return o.blend(person{logs: rounded(append([]float64(nil), o.prior...)), offsetVar: o.offsetVar})
}

// ConditionOnPending implements idrl.RewardModel, for questions that are with annotators of
// whom nothing is known.
func (o Own) ConditionOnPending(p idrl.Posterior, qs ...idrl.QueryVector) idrl.Posterior {
	return Model{Start: o.of.Start, Comparison: o.Likelihood(idrl.Query{}), Rating: o.Likelihood(idrl.Query{})}.ConditionOnPending(theta(p), qs...)
}

// theta returns the belief about θ of a posterior of an Own model.
func theta(p idrl.Posterior) *Gaussian {
	if j, ok := p.(*Joint); ok {
		return j.theta
	}
	return p.(*Gaussian)
}

// Asking implements idrl.Personal.
func (o Own) Asking(p idrl.Posterior, who idrl.AnnotatorID) idrl.RewardModel {
	return asking{o, func(q idrl.Query) idrl.Likelihood { return o.likelihood(p.(*Joint), who, q) }}
}

// ConditionOnPendingWith implements idrl.Personal.
func (o Own) ConditionOnPendingWith(p idrl.Posterior, qs []idrl.QueryVector, with []idrl.AnnotatorID) idrl.Posterior {
	j := p.(*Joint)
	if len(qs) == 0 {
		return j
	}
	out, sx := j.theta.clone(), make([]float64, j.Dim())
	for i, q := range qs {
		mean, v := idrl.Moments(out, q.X, out.mean, sx) // leaves Σx in sx
		out.shift(q.X, sx, 0, o.likelihood(j, with[i], q.Query).Info(mean, v))
	}
	return out
}

// asking is an Own model for questions to one annotator.
type asking struct {
	Own
	of func(idrl.Query) idrl.Likelihood
}

// Likelihood returns the model of the annotator's answer to q.
func (a asking) Likelihood(q idrl.Query) idrl.Likelihood { return a.of(q) }

// ownOptions are the options of Own.Fit: a thousandth of a standard deviation is little beside
// what is not known of annotators.
var ownOptions = epOptions{sweeps: 25, tolerance: 1e-3}

// A mannerSite is the factor that stands for what an answer says of its annotator: log
// weights of the manners, and a Gaussian factor of the offset as of a site.
type mannerSite struct {
	who     int // among the people of a fit
	logs    []float64
	tau, nu float64
}

// A joining is a Fit under way.
type joining struct {
	Own
	from   *Joint
	theta  *Gaussian
	people []member
	sites  []site
	says   []mannerSite // of the same answers
	read   reading
}

// member is a person in a fit.
type member struct {
	before   person    // before the answers
	logs     []float64 // now
	tau, nu  float64   // of the offset now: precision, and precision times mean
	previous []float64 // weights after the sweep before
}

// Fit returns the belief after all of some answers at once, given the belief before them, by
// expectation propagation in θ and in the manners and offsets of annotators: each answer is a
// Gaussian factor of its u, weights of the manners of its annotator and a Gaussian factor of
// their offset, which are member, over and over, to what the answer says beside all the
// others. as[i] answers qs[i]. The first sweep is Condition, answer by answer. It ends
// when no change is greater than a thousandth, or after 25 sweeps. The result is a function of the
// arguments. Errors are those of Model.Fit.
func (o Own) Fit(ctx context.Context, from idrl.Posterior, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, idrl.FitReport, error) {
	j, ok := from.(*Joint)
	if !ok {
		return nil, idrl.FitReport{}, fmt.Errorf("belief: fit of a %T by a model of annotators", from)
	}
	sites, err := o.of.sites(j.theta, qs, as)
	if err != nil {
		return nil, idrl.FitReport{}, err
	}
	f := &joining{Own: o, from: j, theta: j.theta, sites: sites}
	if f.join(); len(f.people) == 1 && o.told(j, f.people[0].before.id) {
		g, report, err := o.of.ep(ctx, j.theta, qs, as, epOptions{})
		if err != nil {
			return nil, report, err
		}
		return j.with(g, f.people[0].before), report, nil
	}
	report := idrl.FitReport{Answers: len(sites)}
	damping, last := 1.0, math.Inf(1)
	for report.Sweeps < ownOptions.sweeps && !report.Converged {
		if err := ctx.Err(); err != nil {
			return nil, report, err
		}
		report.Change, report.Skipped = 0, 0
		if err := f.sweep(damping, &report); err != nil && report.Sweeps > 0 {
			break // what Condition takes, a fit takes; the belief is that of the last sweep
		} else if err != nil {
			return nil, report, err
		}
		f.theta = product(j.theta, f.sites, &report)
		f.settle(&report)
		report.Sweeps++
		report.Converged = report.Change <= ownOptions.tolerance && report.Skipped == 0
		if report.Sweeps > 2 && report.Change >= last {
			damping = max(leastDamping, damping/2)
		}
		last = report.Change
	}
	return f.joint(), report, nil
}

// join makes factors of the annotators that say nothing yet.
func (f *joining) join() {
	places := map[idrl.AnnotatorID]int{}
	f.says = make([]mannerSite, len(f.sites))
	for i, s := range f.sites {
		who, known := places[s.answer.Annotator]
		if !known {
			who = len(f.people)
			places[s.answer.Annotator] = who
			p := f.person(f.from, s.answer.Annotator)
			f.people = append(f.people, member{before: p, previous: make([]float64, len(f.list))})
		}
		f.says[i] = mannerSite{who: who, logs: make([]float64, len(f.list))}
	}
	f.settle(&idrl.FitReport{})
}

// settle sets what is known of the people by all factors, free of the rounding of the steps
// that led to them, and notes how far that is from what it was.
func (f *joining) settle(report *idrl.FitReport) {
	for i := range f.people {
		p := &f.people[i]
		p.logs, p.tau, p.nu = p.before.wide(), 0, 0
		if p.before.offsetVar > 0 {
			p.tau = 1 / p.before.offsetVar
			p.nu = p.tau * p.before.offset
		}
	}
	for i := range f.says {
		s := &f.says[i]
		p := &f.people[s.who]
		for k, l := range s.logs {
			p.logs[k] += l
		}
		p.tau += s.tau
		p.nu += s.nu
	}
	for i := range f.people {
		f.people[i].note(report)
	}
}

// note notes how far the weights are from what they were.
func (p *member) note(report *idrl.FitReport) {
	level(p.logs)
	sum, moved := 0.0, 0.0
	for _, l := range p.logs {
		sum += math.Exp(l)
	}
	for k, l := range p.logs {
		w := math.Exp(l) / sum
		moved += math.Abs(w - p.previous[k])
		p.previous[k] = w
	}
	report.Change = max(report.Change, moved)
}

// sweep fits every factor once.
func (f *joining) sweep(damping float64, report *idrl.FitReport) error {
	g, sx, cavity := f.theta.clone(), make([]float64, f.theta.Dim()), make([]float64, len(f.list))
	for i := range f.sites {
		s, says := &f.sites[i], &f.says[i]
		p := &f.people[says.who]
		mean, v := idrl.Moments(g, s.query.X, g.mean, sx) // leaves Σx in sx
		for k := range cavity {
			cavity[k] = p.logs[k] - says.logs[k]
		}
		offset, offsetVar, ok := cavityOf(p.tau-says.tau, p.nu-says.nu, f.offsetVar > 0)
		left := 1 - s.tau*v
		if left <= 0 || !ok {
			report.Skipped++
			continue
		}
		m, cv := (mean-v*s.nu)/left, v/left
		if !finite(m, cv) || !f.Own.read(&f.read, s.observation, m, cv, offset, offsetVar) {
			return beyond(s.answer, m, cv)
		}
		push := f.mix(&f.read, cavity)
		if !finite(push.logZ, push.d1, push.d2, push.offset1, push.offset2) {
			return beyond(s.answer, m, cv)
		}
		for k, l := range f.read.logs {
			d := damping * (l - says.logs[k])
			says.logs[k] += d
			p.logs[k] += d
		}
		f.shiftOffset(p, says, offset, offsetVar, push, damping, report)
		tau, nu, ok := siteOf(m, cv, push.d1, push.d2)
		dTau, dNu := tau-s.tau, nu-s.nu
		if !ok || !(1+damping*dTau*v > 0) {
			report.Skipped++
			continue
		}
		report.Change = max(report.Change, math.Abs(dTau)*v, math.Abs(dNu-dTau*mean)*math.Sqrt(v))
		s.tau += damping * dTau
		s.nu += damping * dNu
		g.multiply(s.query.X, sx, mean, v, damping*dTau, damping*dNu)
	}
	return nil
}

// cavityOf returns the mean and variance of an offset without an answer; zeros where there
// are no offsets. ok is false if that has no positive variance.
func cavityOf(tau, nu float64, offsets bool) (mean, variance float64, ok bool) {
	if !offsets {
		return 0, 0, true
	}
	return nu / tau, 1 / tau, tau > 0
}

// siteOf returns the factor with which N(m, v) gets the mean and variance that an answer gives
// it whose log Z has the derivatives d1 and d2. ok is false where that has no positive variance.
func siteOf(m, v, d1, d2 float64) (tau, nu float64, ok bool) {
	left := 1 + v*d2
	return -d2 / left, (d1 - m*d2) / left, left > 0
}

// shiftOffset fits the factor of the offset of p.
func (f *joining) shiftOffset(p *member, s *mannerSite, m, v float64, push push, damping float64, report *idrl.FitReport) {
	if f.offsetVar == 0 {
		return
	}
	tau, nu, ok := siteOf(m, v, push.offset1, push.offset2)
	dTau, dNu := damping*(tau-s.tau), damping*(nu-s.nu)
	if !ok || !(p.tau+dTau > 0) {
		report.Skipped++
		return
	}
	s.tau, s.nu = s.tau+dTau, s.nu+dNu
	p.tau, p.nu = p.tau+dTau, p.nu+dNu
	report.Change = max(report.Change, math.Abs(dTau)/p.tau, math.Abs(dNu-dTau*p.nu/p.tau)/math.Sqrt(p.tau))
}

// joint returns the belief that the factors make.
func (f *joining) joint() *Joint {
	out := &Joint{theta: f.theta, people: f.from.people}
	for _, p := range f.people {
		now := person{id: p.before.id, logs: rounded(p.logs), offset: p.before.offset, offsetVar: p.before.offsetVar}
		if p.tau > 0 && f.offsetVar > 0 {
			now.offset, now.offsetVar = p.nu/p.tau, 1/p.tau
		}
		out = out.with(f.theta, now)
	}
	return out
}
