package belief

import (
	"slices"

	"tiebreak/internal/idrl"
)

// left holds the Factors of a fit, from which a later fit continues.
type left struct {
	each     []leftSite
	meant    []float32 // mannerSite.meant by observation and base
	ratio    float64
	spread   [][]float64 // member.spread of the people
	measured int
	logs     [][]float64 // of the weights of the manners of the people, in the order of their first answers
	damping  float64
	clicks   clicks
}

// leftSite are the Gaussian factors of an observation, of θ and of the offset.
type leftSite struct{ tau, nu, offsetTau, offsetNu float64 }

// recall sets the people to their state in l.
func (f *joining) recall(l *left) {
	for i, logs := range l.logs {
		copy(f.people[i].logs, logs)
		f.people[i].spread = l.spread[i]
	}
	f.clicks = l.clicks
	f.suspect()
}

// begin sets the factors of the first answers to those of l, and takes in the other answers.
func (f *joining) begin(l *left, report *idrl.FitReport) error {
	f.damping = min(1, 2*l.damping)
	copy(f.meant, l.meant)
	for i, from := range l.each {
		f.sites[i].tau, f.sites[i].nu = from.tau, from.nu
		f.says[i].tau, f.says[i].nu = from.offsetTau, from.offsetNu
	}
	for i := range l.logs {
		f.people[i].bases = f.people[i].basesAbove(leastShare, f.manners)
	}
	f.theta = product(f.from.theta, f.sites, report)
	f.settleOffsets()
	damping := f.damping
	f.damping = 1
	f.ratio, f.measured = l.ratio, l.measured
	err := f.sweep(len(l.each), report)
	f.damping = damping
	return err
}

// left returns the state from which the next fit begins.
func (f *joining) left() *left {
	out := &left{each: make([]leftSite, len(f.sites)), meant: f.meant, damping: f.damping, ratio: f.ratio, measured: f.measured, clicks: f.clicks}
	for i, s := range f.sites {
		out.each[i] = leftSite{s.tau, s.nu, f.says[i].tau, f.says[i].nu}
	}
	for _, p := range f.people {
		out.logs = append(out.logs, slices.Clone(p.logs))
		out.spread = append(out.spread, p.spread)
	}
	return out
}
