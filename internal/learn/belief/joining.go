package belief

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"

	"gonum.org/v1/gonum/floats"
)

// ownOptions are the options of Own.Fit: a thousandth of a standard deviation is little beside
// the uncertainty about annotators.
var ownOptions = epOptions{sweeps: 25, tolerance: 1e-3}

// resumedOptions are those of a fit that continues from an earlier one: only the few answers since then
// still change the factors.
var resumedOptions = epOptions{sweeps: 1, tolerance: 0.1}

// A mannerSite is the factor of an answer about its annotator: of the manners the probabilities of the answer,
// which follow from those under the bases, and a Gaussian factor of the offset as of a site.
type mannerSite struct {
	who            int       // among the people of a fit
	alike, decided float64   // as of a reading
	meant          []float32 // of the bases; the first is unread before the answer is read
	tau, nu        float64
}

// unread is mannerSite.meant[0] of an answer that was not read yet.
const unread = -1

// A joining is a Fit under way.
type joining struct {
	Own
	from   *Joint
	theta  *Gaussian
	people []member
	sites  []site
	says   []mannerSite // of the same answers
	meant  []float32    // memory of says
	read   *reading
	sx     []float64
	cavity []float64 // weights of the manners without an answer
	lent   *[]*memberMemory

	damping  float64 // share of a change that is made: a power of 1/2
	clicks   clicks
	ratio    float64 // of the variance of the scale to that which the factors make
	measured int     // factors by which ratio is
}

// Fit returns the belief after all of some answers at once, given the belief before them, by
// expectation propagation in θ and in the manners and offsets of annotators: each answer is a
// Gaussian factor of its u, probabilities under the manners of its annotator and a Gaussian factor of
// their offset. These are fitted repeatedly, given the factors of all other answers. as[i] answers
// qs[i]. The first sweep is Condition, answer by answer. The fit ends when no change is greater than a
// thousandth, or after 25 sweeps. Then the dependence between the scale of θ and the manners is
// included (see scaling). The result is a function of the arguments. Errors are those of Model.Fit.
func (o Own) Fit(ctx context.Context, from idrl.Posterior, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, idrl.FitReport, error) {
	p, _, report, err := o.Resume(ctx, from, nil, qs, as)
	return p, report, err
}

// Resume implements posterior.Resumer. The Factors are nil if only one annotator has answered, whose
// noise is taken to be known.
func (o Own) Resume(ctx context.Context, from idrl.Posterior, before posterior.Factors, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, posterior.Factors, idrl.FitReport, error) {
	j, ok := from.(*Joint)
	if !ok {
		return nil, nil, idrl.FitReport{}, fmt.Errorf("belief: fit of a %T by a model of annotators", from)
	}
	sites, err := o.of.sites(j.theta, qs, as)
	if err != nil {
		return nil, nil, idrl.FitReport{}, err
	}
	f := o.joining(j, sites, new([]*memberMemory))
	defer f.release()
	if len(f.people) == 1 && o.told(j, f.people[0].before.id) {
		g, report, err := o.of.ep(ctx, j.theta, qs, as, epOptions{})
		if err != nil {
			return nil, nil, report, err
		}
		return j.with(g, f.people[0].before), nil, report, nil
	}
	l, _ := before.(*left)
	report, err := f.fit(ctx, l)
	if err == nil {
		f, err = f.checked(ctx, l != nil, &report)
	}
	if n := len(f.sites); err == nil && (f.measured == 0 || n-f.measured >= max(measureEvery, n/measurePart)) {
		f.measure(&report)
	}
	if err != nil {
		return nil, nil, report, err
	}
	return f.joint(f.mixed(f.widened())), f.left(), report, nil
}

// joining returns a fit whose factors are all 1. It adds the memory that it borrows for its members to lent.
func (o Own) joining(from *Joint, sites []site, lent *[]*memberMemory) *joining {
	f := &joining{Own: o, from: from, theta: from.theta, sites: sites, lent: lent, damping: 1, ratio: 1, read: o.newReading(), sx: make([]float64, from.theta.Dim()), cavity: make([]float64, len(o.list))}
	f.join()
	return f
}

// fit makes the sweeps of a fit. It begins with the factors l of the first answers, or from the beginning if l is nil.
func (f *joining) fit(ctx context.Context, l *left) (report idrl.FitReport, err error) {
	report.Answers = len(f.sites)
	limit := ownOptions
	ok := l != nil && (len(l.logs) < fewest) == (len(f.people) < fewest)
	if ok {
		limit = resumedOptions
		f.recall(l)
	}
	for i := range f.people {
		f.people[i].weigh(&report)
	}
	if !ok && len(f.people) >= fewest {
		err = f.acquaint(ctx, &report)
	}
	if ok {
		err = f.begin(l, &report)
	}
	if err == nil {
		err = f.run(ctx, limit, &report)
	}
	if err == nil && f.mirrored() {
		err = f.mirror(ctx, &report)
	}
	report.Converged = report.Change <= limit.tolerance && report.Skipped == 0
	return report, err
}

// acquainted is the number of first sweeps without the reversed manners: otherwise a fit may begin with all
// answers reversed.
const acquainted = 3

// acquaint makes the first sweeps, without the reversed manners.
func (f *joining) acquaint(ctx context.Context, report *idrl.FitReport) error {
	hidden := make([][]float64, len(f.people))
	for i := range f.people {
		p := &f.people[i]
		hidden[i] = slices.Clone(p.prior)
		for k := range p.prior {
			if f.kind(k) == reversedAnswers {
				p.prior[k], p.logs[k] = math.Inf(-1), math.Inf(-1)
			}
		}
		p.weigh(report)
	}
	err := f.run(ctx, epOptions{sweeps: acquainted, tolerance: ownOptions.tolerance}, report)
	for i := range f.people {
		copy(f.people[i].prior, hidden[i])
	}
	f.settle(report)
	return err
}

// run sweeps until no change is greater than the tolerance. The belief is then a function of the factors.
func (f *joining) run(ctx context.Context, limit epOptions, report *idrl.FitReport) error {
	report.Sweeps = 0
	for last := math.Inf(1); report.Sweeps < limit.sweeps; last = report.Change {
		if err := ctx.Err(); err != nil {
			return err
		}
		report.Change, report.Skipped = 0, 0
		if err := f.sweep(0, report); err != nil && report.Sweeps > 0 {
			f.settle(report)
			break // answers that Condition accepts, a fit accepts
		} else if err != nil {
			return err
		}
		f.settle(report)
		report.Sweeps++
		if report.Change <= limit.tolerance && report.Skipped == 0 {
			break
		}
		if report.Sweeps > 2 && report.Change >= last {
			f.damping = max(leastDamping, f.damping/2)
		}
	}
	return nil
}

// The scale is measured again when 1/measurePart of the answers is new, and at least measureEvery of them.
const (
	measureEvery = 8
	measurePart  = 4
)

// join makes the factors of the annotators, which are 1.
func (f *joining) join() {
	places, n := map[idrl.AnnotatorID]int{}, len(f.bases)
	f.says, f.meant = make([]mannerSite, len(f.sites)), make([]float32, n*len(f.sites))
	for i, s := range f.sites {
		who, known := places[s.answer.Annotator]
		if !known {
			who = len(places)
			places[s.answer.Annotator] = who
		}
		alike, decided := f.random(s.query.Kind, s.answer)
		f.says[i] = mannerSite{who: who, alike: alike, decided: decided, meant: f.meant[i*n : (i+1)*n : (i+1)*n]}
		f.says[i].meant[0] = unread
	}
	people := len(f.from.people)
	for id := range places {
		if _, known := f.from.find(id); !known {
			people++
		}
	}
	f.people = make([]member, len(places))
	for id, who := range places {
		f.people[who] = f.member(id, people)
	}
}

// leastWeight is a weight so small that one answer cannot make it relevant, and logLeast its logarithm.
const (
	logLeast    = -300
	leastWeight = 5e-131
)

// sweep fits the factors from one on once.
func (f *joining) sweep(first int, report *idrl.FitReport) error {
	f.theta = f.theta.clone()
	for i := first; i < len(f.sites); i++ {
		if err := f.visit(i, report); err != nil {
			return err
		}
	}
	return nil
}

// visit fits factor i, and updates theta, which is not shared.
func (f *joining) visit(i int, report *idrl.FitReport) error {
	s, says := &f.sites[i], &f.says[i]
	p := &f.people[says.who]
	bases := p.bases
	if says.meant[0] == unread {
		bases = f.all
	}
	mean, v := idrl.Moments(f.theta, s.query.X, f.theta.mean, f.sx) // leaves Σx in sx
	f.without(p, says, bases)
	offset, offsetVar, ok := cavityOf(p.tau-says.tau, p.nu-says.nu, f.offsetVar > 0)
	left := 1 - s.tau*v
	if left <= 0 || !ok {
		report.Skipped++
		return nil
	}
	m, cv := (mean-v*s.nu)/left, v/left
	if !finite(m, cv) || !f.Own.read(f.read, s.observation, bases, m, cv, offset, offsetVar) {
		return beyond(*s.answer, m, cv)
	}
	push := f.mix(f.read, bases, f.cavity)
	if !push.possible() {
		return beyond(*s.answer, m, cv)
	}
	f.with(p, says, bases, 1/push.z)
	f.shiftOffset(p, says, offset, offsetVar, push, f.damping, report)
	tau, nu, ok := siteOf(m, cv, push.d1, push.d2)
	s.move(f.theta, f.sx, normal{mean, v}, normal{nu, tau}, ok, f.damping, report)
	return nil
}

// without stores the weights of p without an answer in cavity, for some bases and for the manners that click at random.
func (f *joining) without(p *member, says *mannerSite, bases []int) {
	if says.meant[0] == unread {
		copy(f.cavity, p.weights)
		return
	}
	c := lapsed(says.alike)
	for _, b := range bases {
		cavity, w := lapsesOf(f.cavity, b), lapsesOf(p.weights, b)
		z := float64(says.meant[b])
		p0, p1, p2, p3 := chance(c[0]+meantRates[0]*z), chance(c[1]+meantRates[1]*z), chance(c[2]+meantRates[2]*z), chance(c[3]+meantRates[3]*z)
		cavity[0], cavity[1], cavity[2], cavity[3] = w[0]/p0, w[1]/p1, w[2]/p2, w[3]/p3
	}
	for k := f.firstRandom(); k < len(f.cavity); k++ {
		f.cavity[k] = p.weights[k] / f.randomly(k, says.alike, says.decided)
	}
}

// with sets the factor of an answer to the probabilities in f.read, and the weights of p to cavity times that factor
// times share.
func (f *joining) with(p *member, says *mannerSite, bases []int, share float64) {
	unknown, c := says.meant[0] == unread, lapsed(says.alike)
	for _, b := range bases {
		meant := max(leastRead, f.read.meant[b])
		if f.damping < 1 && !unknown {
			meant = toward(float64(says.meant[b]), meant, f.damping)
		}
		says.meant[b] = float32(meant)
		meant = float64(says.meant[b])
		w, weights := lapsesOf(f.cavity, b), lapsesOf(p.weights, b)
		z := meant
		p0, p1, p2, p3 := chance(c[0]+meantRates[0]*z), chance(c[1]+meantRates[1]*z), chance(c[2]+meantRates[2]*z), chance(c[3]+meantRates[3]*z)
		weights[0], weights[1], weights[2], weights[3] = w[0]*p0*share, w[1]*p1*share, w[2]*p2*share, w[3]*p3*share
		if unknown && len(p.bases) < len(f.all) { // settle does not reach those that are not read
			lapsesOf(p.logs, b).learn(&c, meant)
		}
	}
	for k := f.firstRandom(); k < len(f.cavity); k++ {
		p.weights[k] = f.cavity[k] * f.randomly(k, says.alike, says.decided) * share
	}
}

// toward returns was·(is/was)^damping, where damping is a power of 1/2.
func toward(was, is, damping float64) float64 {
	ratio := is / was
	for ; damping < 1; damping *= 2 {
		ratio = math.Sqrt(ratio)
	}
	return was * ratio
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

// joint returns the belief by the factors, with theta in place of f.theta.
func (f *joining) joint(theta *Gaussian) *Joint {
	out := &Joint{theta: theta, people: slices.Clone(f.from.people)}
	for i, p := range f.people {
		logs := slices.Clone(p.logs)
		if p.spread != nil {
			floats.Add(logs, p.spread)
		}
		f.accuse(i, logs)
		now := person{id: p.before.id, logs: rounded(logs), offset: p.before.offset, offsetVar: p.before.offsetVar, kept: &keptBlend{}}
		if p.tau > 0 && f.offsetVar > 0 {
			now.offset, now.offsetVar = p.nu/p.tau, 1/p.tau
		}
		out = out.with(theta, now)
	}
	return out
}
