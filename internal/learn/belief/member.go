package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// member is a person in a fit.
type member struct {
	before  person    // before the answers
	prior   []float64 // log weights of the manners then
	logs    []float64 // of the weights of the manners after the last sweep
	weights []float64 // now, up to a factor
	tau, nu float64   // of the offset now: precision, and precision times mean
	shares  []float64 // weights after the sweep before, which add up to 1
	bases   []int     // those that are read
	product []float64 // work of settle: products of factors, divided by 2^powers
	powers  []int
	factors int // in product since the last gather

	clicking []float64 // prior log weights of the manners that click at random, for a suspect; nil for others

	// spread is added to logs for the uncertainty of the scale; nil for zeros.
	spread []float64
}

// member returns annotator id, one of that many people, before the answers.
func (f *joining) member(id idrl.AnnotatorID, people int) member {
	n, m := len(f.list), f.lend()
	part := func(i int) []float64 { return m.numbers[i*n : (i+1)*n : (i+1)*n] }
	p := member{before: f.stranger(id, people), prior: part(0), logs: part(1), weights: part(2), shares: part(3), product: part(4), powers: m.powers, bases: f.all}
	copy(p.prior, f.priorAmong(people))
	if i, known := f.from.find(id); known {
		p.before = f.from.people[i]
		p.before.wide(p.prior)
	}
	copy(p.logs, p.prior)
	if p.before.offsetVar > 0 {
		p.tau = 1 / p.before.offsetVar
		p.nu = p.tau * p.before.offset
	}
	return p
}

// A memberMemory holds the slices of a member, which are reused: they would be most of the memory that a session allocates.
type memberMemory struct {
	numbers []float64
	powers  []int
}

// lend returns memory of a member, of zeros, until release.
func (f *joining) lend() *memberMemory {
	m, ok := f.members.Get().(*memberMemory)
	if ok {
		clear(m.numbers)
		clear(m.powers)
	} else {
		m = &memberMemory{make([]float64, 5*len(f.list)), make([]int, len(f.list))}
	}
	*f.lent = append(*f.lent, m)
	return m
}

// release ends the use of the members of a fit, and of those of fits that began from it.
func (f *joining) release() {
	for _, m := range *f.lent {
		f.members.Put(m)
	}
	*f.lent = nil
}

// leastShare is the weight of a base below which its factors are not updated in a fit that continues from
// another.
const leastShare = 1e-4

// basesAbove returns the bases whose weight is above a share.
func (p *member) basesAbove(least float64, g *manners) (out []int) {
	out = make([]int, 0, len(g.bases))
	for i := range g.bases {
		sum := 0.0
		for _, share := range lapsesOf(p.shares, i) {
			sum += share
		}
		if sum > least {
			out = append(out, i)
		}
	}
	return out
}

// manyFactors is how many factors of at least leastRead have a product that is no less than
// 1e-240.
const manyFactors = 8

// settle computes the people and theta anew from all factors, without the rounding errors of single
// steps, and reports the changes.
func (f *joining) settle(report *idrl.FitReport) {
	f.settleOffsets()
	for i := range f.people {
		f.people[i].begin(f.manners)
	}
	for i := range f.says {
		s := &f.says[i]
		if s.meant[0] == unread {
			continue
		}
		p, c := &f.people[s.who], lapsed(s.alike)
		for _, b := range p.bases {
			lapsesOf(p.product, b).times(&c, float64(s.meant[b]))
		}
		for k := f.firstRandom(); k < len(p.product); k++ {
			p.product[k] *= f.randomly(k, s.alike, s.decided)
		}
		if p.factors++; p.factors == manyFactors {
			p.gather()
		}
	}
	for i := range f.people {
		f.people[i].end(f.manners)
		f.people[i].weigh(report)
	}
	f.theta = product(f.from.theta, f.sites, report)
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

// begin begins the products of p.
func (p *member) begin(g *manners) {
	p.factors = 0
	clear(p.powers)
	for k := range p.product {
		p.product[k] = 1
	}
}

// gather moves the exponents of the products to powers, so that a product of many factors does not
// underflow.
func (p *member) gather() {
	for k, z := range p.product {
		if z == 1 {
			continue
		}
		fraction, power := math.Frexp(z)
		p.product[k] = fraction
		p.powers[k] += power
	}
	p.factors = 0
}

// end sets the log weights of the manners that were read by the products.
func (p *member) end(g *manners) {
	set := func(k int) {
		p.logs[k] = p.prior[k] + math.Log(p.product[k]) + math.Ln2*float64(p.powers[k])
	}
	for _, i := range p.bases {
		for l := range ownLapses {
			set(i*len(ownLapses) + l)
		}
	}
	for k := g.firstRandom(); k < len(p.logs); k++ {
		set(k)
	}
}

// weigh sets the weights by their logarithms, and reports their change.
func (p *member) weigh(report *idrl.FitReport) {
	top := p.logs[0]
	for _, l := range p.logs {
		if l > top || l != l { // as slices.Max, for less work
			top = l
		}
	}
	sum, moved := 0.0, 0.0
	for k, l := range p.logs {
		p.weights[k] = leastWeight
		if l-top > logLeast {
			p.weights[k] = math.Exp(l - top)
		}
		sum += p.weights[k]
	}
	for k, w := range p.weights {
		moved += math.Abs(w/sum - p.shares[k])
		p.shares[k] = w / sum
	}
	report.Change = max(report.Change, moved)
}
