package belief

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
)

// ownOptions are the options of Own.Fit: a thousandth of a standard deviation is little beside
// the uncertainty about annotators.
var ownOptions = epOptions{sweeps: 25, tolerance: 1e-3}

// resumedOptions are those of Resume where there is something to go on from: it ends after a few
// sweeps and leaves the rest to the next fit, and reports only changes that a person could see.
var resumedOptions = epOptions{sweeps: 2, tolerance: 0.1}

// left are the Factors of a fit: of θ and of the offset of each observation, and the damping. The
// weights of the manners follow from them.
type left struct {
	each    []leftSite
	damping float64
}

type leftSite struct{ tau, nu, offsetTau, offsetNu float64 }

// A mannerSite is the factor of an answer about its annotator: a weight of each manner, and a
// Gaussian factor of the offset as of a site.
type mannerSite struct {
	who     int       // among the people of a fit
	z       []float64 // of the manners, > 0
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
	read   *reading
	all    []float64 // memory of the weights of says

	damping float64 // share of a change that is made: a power of 1/2
}

// member is a person in a fit.
type member struct {
	before  person    // before the answers
	prior   []float64 // log weights of the manners then
	logs    []float64 // of the weights of the manners after the last sweep
	weights []float64 // now, up to a factor
	tau, nu float64   // of the offset now: precision, and precision times mean
	shares  []float64 // weights after the sweep before, which add up to 1
	product []float64 // work of settle: what is to be multiplied with 2^powers
	powers  []int
	factors int // in product since the last gather
}

// Fit returns the belief after all of some answers at once, given the belief before them, by
// expectation propagation in θ and in the manners and offsets of annotators: each answer is a
// Gaussian factor of its u, weights of the manners of its annotator and a Gaussian factor of
// their offset, which are member, over and over, to what the answer says beside all the
// others. as[i] answers qs[i]. The first sweep is Condition, answer by answer. It ends
// when no change is greater than a thousandth, or after 25 sweeps. The result is a function of the
// arguments. Errors are those of Model.Fit.
func (o Own) Fit(ctx context.Context, from idrl.Posterior, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, idrl.FitReport, error) {
	p, _, report, err := o.Resume(ctx, from, nil, qs, as)
	return p, report, err
}

// Resume implements posterior.Resumer. Where only one annotator's answers were fitted, whose noise
// was taken for known, nothing is left.
func (o Own) Resume(ctx context.Context, from idrl.Posterior, before posterior.Factors, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, posterior.Factors, idrl.FitReport, error) {
	j, ok := from.(*Joint)
	if !ok {
		return nil, nil, idrl.FitReport{}, fmt.Errorf("belief: fit of a %T by a model of annotators", from)
	}
	sites, err := o.of.sites(j.theta, qs, as)
	if err != nil {
		return nil, nil, idrl.FitReport{}, err
	}
	f := &joining{Own: o, from: j, theta: j.theta, sites: sites, damping: 1}
	defer f.free()
	if f.join(); len(f.people) == 1 && o.told(j, f.people[0].before.id) {
		g, report, err := o.of.ep(ctx, j.theta, qs, as, epOptions{})
		if err != nil {
			return nil, nil, report, err
		}
		return j.with(g, f.people[0].before), nil, report, nil
	}
	report, limit := idrl.FitReport{Answers: len(sites)}, ownOptions
	if l, ok := before.(*left); ok {
		f.begin(l, &report)
		limit = resumedOptions
	} else {
		f.settle(&report)
	}
	if err := f.run(ctx, limit.sweeps, &report); err != nil {
		return nil, nil, report, err
	}
	report.Converged = report.Change <= limit.tolerance && report.Skipped == 0
	return f.joint(), f.left(), report, nil
}

// run sweeps until nothing changes by more than the tolerance of ownOptions. What the belief is
// then follows from the factors alone.
func (f *joining) run(ctx context.Context, sweeps int, report *idrl.FitReport) error {
	for last := math.Inf(1); report.Sweeps < sweeps; last = report.Change {
		if err := ctx.Err(); err != nil {
			return err
		}
		report.Change, report.Skipped = 0, 0
		if err := f.sweep(report); err != nil && report.Sweeps > 0 {
			f.settle(report)
			break // what Condition takes, a fit takes
		} else if err != nil {
			return err
		}
		f.settle(report)
		report.Sweeps++
		if report.Change <= ownOptions.tolerance && report.Skipped == 0 {
			break
		}
		if report.Sweeps > 2 && report.Change >= last {
			f.damping = max(leastDamping, f.damping/2)
		}
	}
	f.theta = product(f.from.theta, f.sites, report)
	return nil
}

// begin begins with the state that a fit of the first of the answers left.
func (f *joining) begin(l *left, report *idrl.FitReport) {
	f.damping = min(1, 2*l.damping)
	for i, from := range l.each {
		f.sites[i].tau, f.sites[i].nu = from.tau, from.nu
		f.says[i].tau, f.says[i].nu = from.offsetTau, from.offsetNu
	}
	f.theta = product(f.from.theta, f.sites, report)
	f.settleOffsets()
	sx := make([]float64, f.theta.Dim())
	for i := range l.each {
		s, says := &f.sites[i], &f.says[i]
		p := &f.people[says.who]
		mean, v := idrl.Moments(f.theta, s.query.X, f.theta.mean, sx)
		offset, offsetVar, ok := cavityOf(p.tau-says.tau, p.nu-says.nu, f.offsetVar > 0)
		if left := 1 - s.tau*v; ok && left > 0 && f.Own.read(f.read, s.observation, (mean-v*s.nu)/left, v/left, offset, offsetVar) {
			copy(says.z, f.read.z)
		}
	}
	f.settle(report)
}

// left returns the state from which the next fit begins.
func (f *joining) left() *left {
	out := &left{each: make([]leftSite, len(f.sites)), damping: f.damping}
	for i, s := range f.sites {
		out.each[i] = leftSite{s.tau, s.nu, f.says[i].tau, f.says[i].nu}
	}
	return out
}

// weightsMemory is of *[]float64, for joining.all. The fits of all sessions share it: of one alone,
// memory would be gone before its next fit.
var weightsMemory sync.Pool

// join makes factors of the annotators that say nothing yet.
func (f *joining) join() {
	places, n := map[idrl.AnnotatorID]int{}, len(f.list)
	f.says, f.read = make([]mannerSite, len(f.sites)), f.newReading()
	if kept, ok := weightsMemory.Get().(*[]float64); ok {
		f.all = *kept
	}
	f.all = slices.Grow(f.all[:0], n*len(f.sites))[:n*len(f.sites)]
	for i := range f.all {
		f.all[i] = 1
	}
	for i, s := range f.sites {
		who, known := places[s.answer.Annotator]
		if !known {
			who = len(f.people)
			places[s.answer.Annotator] = who
			p := f.person(f.from, s.answer.Annotator)
			f.people = append(f.people, member{before: p, prior: p.wide(make([]float64, n)), logs: make([]float64, n), weights: make([]float64, n), shares: make([]float64, n), product: make([]float64, n), powers: make([]int, n)})
		}
		f.says[i] = mannerSite{who: who, z: f.all[i*n : (i+1)*n : (i+1)*n]}
	}
}

// free gives the memory of the weights of the manners to the next fit.
func (f *joining) free() {
	all := f.all
	weightsMemory.Put(&all)
	f.all, f.says = nil, nil
}

// manyFactors is how many factors of at least leastRead have a product that is no less than
// 1e-240.
const manyFactors = 8

// settle sets what is known of the people by all factors, free of the rounding of the steps
// that led to them, and notes how far that is from what it was.
func (f *joining) settle(report *idrl.FitReport) {
	f.settleOffsets()
	for i := range f.people {
		f.people[i].begin()
	}
	for i := range f.says {
		s := &f.says[i]
		p := &f.people[s.who]
		product := p.product[:len(s.z)]
		for k, z := range s.z {
			product[k] *= z
		}
		if p.factors++; p.factors == manyFactors {
			p.gather()
		}
	}
	for i := range f.people {
		f.people[i].end()
		f.people[i].note(report)
	}
}

// settleOffsets is settle of the offsets alone.
func (f *joining) settleOffsets() {
	if f.offsetVar == 0 {
		return
	}
	for i := range f.people {
		p := &f.people[i]
		p.tau, p.nu = 0, 0
		if p.before.offsetVar > 0 {
			p.tau = 1 / p.before.offsetVar
			p.nu = p.tau * p.before.offset
		}
	}
	for i := range f.says {
		p := &f.people[f.says[i].who]
		p.tau += f.says[i].tau
		p.nu += f.says[i].nu
	}
}

// begin sets what is known of the manners of p before the answers.
func (p *member) begin() {
	copy(p.logs, p.prior)
	p.factors = 0
	clear(p.powers)
	for k := range p.product {
		p.product[k] = 1
	}
}

// gather moves the powers of 2 of the products to powers, so that no product of many factors is
// too small for a number.
func (p *member) gather() {
	for k, z := range p.product {
		fraction, power := math.Frexp(z)
		p.product[k] = fraction
		p.powers[k] += power
	}
	p.factors = 0
}

// end adds the logarithms of the products to logs.
func (p *member) end() {
	for k, z := range p.product {
		p.logs[k] += math.Log(z) + math.Ln2*float64(p.powers[k])
	}
}

// note sets the weights by their logarithms, and notes how far they are from what they were.
func (p *member) note(report *idrl.FitReport) {
	level(p.logs)
	sum, moved := 0.0, 0.0
	for k, l := range p.logs {
		p.weights[k] = math.Exp(max(l, leastWeight))
		sum += p.weights[k]
	}
	for k, w := range p.weights {
		moved += math.Abs(w/sum - p.shares[k])
		p.shares[k] = w / sum
	}
	report.Change = max(report.Change, moved)
}

// leastWeight is the logarithm of a weight that no one answer brings back.
const leastWeight = -300

// sweep fits every factor once.
func (f *joining) sweep(report *idrl.FitReport) error {
	damping := f.damping
	g, sx, cavity := f.theta.clone(), make([]float64, f.theta.Dim()), make([]float64, len(f.list))
	for i := range f.sites {
		s, says := &f.sites[i], &f.says[i]
		p := &f.people[says.who]
		mean, v := idrl.Moments(g, s.query.X, g.mean, sx) // leaves Σx in sx
		old := says.z[:len(cavity)]
		weights := p.weights[:len(cavity)]
		for k, w := range weights {
			cavity[k] = w / old[k]
		}
		offset, offsetVar, ok := cavityOf(p.tau-says.tau, p.nu-says.nu, f.offsetVar > 0)
		left := 1 - s.tau*v
		if left <= 0 || !ok {
			report.Skipped++
			continue
		}
		m, cv := (mean-v*s.nu)/left, v/left
		if !finite(m, cv) || !f.Own.read(f.read, s.observation, m, cv, offset, offsetVar) {
			return beyond(*s.answer, m, cv)
		}
		push := f.mix(f.read, cavity)
		if !push.possible() {
			return beyond(*s.answer, m, cv)
		}
		share := 1 / push.z // so that the weights add up to 1, without damping
		for k, z := range f.read.z[:len(cavity)] {
			z = toward(old[k], z, damping)
			old[k] = z
			weights[k] = cavity[k] * z * share
		}
		f.shiftOffset(p, says, offset, offsetVar, push, damping, report)
		tau, nu, ok := siteOf(m, cv, push.d1, push.d2)
		s.move(g, sx, normal{mean, v}, normal{nu, tau}, ok, damping, report)
	}
	f.theta = g
	return nil
}

// toward returns was·(is/was)^damping, where damping is a power of 1/2.
func toward(was, is, damping float64) float64 {
	if damping == 1 {
		return is
	}
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

// joint returns the belief that the factors make.
func (f *joining) joint() *Joint {
	out := &Joint{theta: f.theta, people: f.from.people}
	for _, p := range f.people {
		now := person{id: p.before.id, logs: rounded(p.logs), offset: p.before.offset, offsetVar: p.before.offsetVar, kept: &keptBlend{}}
		if p.tau > 0 && f.offsetVar > 0 {
			now.offset, now.offsetVar = p.nu/p.tau, 1/p.tau
		}
		out = out.with(f.theta, now)
	}
	return out
}
