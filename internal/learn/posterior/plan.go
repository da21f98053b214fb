package posterior

import (
	"cmp"

	"tiebreak/internal/idrl"
)

// A plan says at which positions of a list of answers all answers before are fitted at
// once. It depends on the number d of weights and on the model alone. The positions are
//
//	5, 10, 15, …, 100, and then each a quarter after the one before,
//
// so that all fits together take about five times as long as the last one. Those of an
// average, which cost more, are at 5, 10, 15, …, 50, and then each a half after the one
// before: three times as long. Those of a model whose fits continue from one another
// (Resumer) are at 1, 2, 3, …, 128, and then each a sixteenth after the one before, from 256
// on a tenth.
//
// A fit of n answers costs about n (d² + overhead). A fit that takes a few milliseconds
// (light) is used from its position on. A longer one is used some answers later, so that it
// can be made in the background; the answers in between are taken in twice, one by one. There
// are no fits that would take many seconds.
type plan struct {
	positions []int   // ascending
	each      float64 // cost of an answer in a fit
	wait      int     // a long fit is used when 1/wait more answers have come
	kept      int     // checkpoints that are kept
}

// The cost of a fit, in units of about 14 ns on a machine of 2024: one multiplication
// and addition in each of some sixteen passes over the covariance, for an answer.
const (
	overhead = 256 // of the likelihood, by answer

	// groupCost is the same of an answer to a group: about ten sweeps of 0.25 ms.
	groupCost = 180_000

	light   = 300_000
	longest = 200_000_000

	memory   = 8 << 20 // numbers that checkpoints may hold
	mostKept = 9       // checkpoints
)

// costOf returns the cost of an answer in a fit by m, apart from the part that grows with d.
func costOf(m idrl.Filter) float64 {
	if of, ok := m.(interface{ Grouped() bool }); ok && of.Grouped() {
		return groupCost
	}
	return overhead
}

// A pace has the distances between fits.
type pace struct {
	upTo  int // answers up to which fits are every apart, from the first on
	every int // the fewest answers between two fits
	part  int // beyond, the next is 1/part of the answers later
	many  int // from so many answers on, 1/late of them; 0: never
	late  int
	wait  int // as of a plan
}

var (
	often   = pace{upTo: 100, every: 5, part: 4, wait: 8}
	seldom  = pace{upTo: 50, every: 5, part: 2, wait: 8}
	resumed = pace{upTo: 128, every: 1, part: 16, many: 256, late: 10, wait: 32}
)

// resumedCost is the cost of a fit that continues from another, and of an update of that model, as a
// multiple of that of a fit from the beginning with known noise.
const resumedCost = 2

// plan returns the plan of the fits of c.
func (c *Config) plan() plan {
	cost, pace := max(1, c.cost), often
	switch _, resumes := c.Model.(Resumer); {
	case resumes:
		cost, pace = resumedCost, resumed
	case cost > 1:
		pace = seldom
	}
	return planFor(c.Model.Prior().Dim(), cost, costOf(c.Model), cmp.Or(c.longest, longest), pace)
}

// planFor returns the plan for d weights, where an answer costs dear beside the work that
// grows with d, each posterior takes cost times the work and memory of one, and no fit takes more than longest.
func planFor(d int, cost, dear, longest float64, pace pace) plan {
	square := float64(d) * float64(d)
	p := plan{each: cost * (square + dear), kept: min(mostKept, max(1, int(memory/(cost*square)))), wait: pace.wait}
	for at := pace.every; float64(at)*p.each <= longest; {
		p.positions = append(p.positions, at)
		step := max(pace.every, at/pace.part)
		if pace.many > 0 && at >= pace.many {
			step = at / pace.late
		}
		if next := at + pace.every; next <= pace.upTo && p.light(next) {
			step = pace.every
		}
		at += step
	}
	return p
}

// light reports whether a fit of n answers takes a few milliseconds.
func (p plan) light(n int) bool { return float64(n)*p.each <= light }

// updates reports whether n updates one by one take a few milliseconds; one is about a
// quarter of a fit.
func (p plan) updates(n int) bool { return float64(n)*p.each <= 4*light }

// adopt returns the position from which on the fit at a position counts.
func (p plan) adopt(at int) int {
	if p.light(at) {
		return at
	}
	return at + min(256, max(4, at/p.wait))
}

// fits reports whether there is a fit at position n.
func (p plan) fits(n int) bool {
	i := p.search(n)
	return i >= 0 && p.positions[i] == n
}

// base returns the position of the fit that the posterior at n is based on; 0 if that
// is the prior.
func (p plan) base(n int) int {
	for i := p.search(n); i >= 0; i-- {
		if p.adopt(p.positions[i]) <= n {
			return p.positions[i]
		}
	}
	return 0
}

// before returns the position before one; 0 if there is none.
func (p plan) before(at int) int {
	if i := p.search(at - 1); i >= 0 {
		return p.positions[i]
	}
	return 0
}

// last returns the last position; 0 if there is none.
func (p plan) last() int {
	if len(p.positions) == 0 {
		return 0
	}
	return p.positions[len(p.positions)-1]
}

// search returns the index of the last position up to n, or -1.
func (p plan) search(n int) int {
	lo, hi := 0, len(p.positions)
	for lo < hi {
		if mid := (lo + hi) / 2; p.positions[mid] <= n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}
