package belief

import (
	"context"

	"tiebreak/internal/idrl"
)

// mirrored reports whether the reversed manners have more weight than the others. Then −θ explains the answers as
// well, and is more probable by the prior of the manners.
func (f *joining) mirrored() bool {
	sum := 0.0
	for _, p := range f.people {
		for k, share := range p.shares {
			switch f.kind(k) {
			case meantAnswers:
				sum += share
			case reversedAnswers:
				sum -= share
			case randomAnswers:
			}
		}
	}
	return sum < 0
}

// mirror turns θ into −θ, and fits from there.
func (f *joining) mirror(ctx context.Context, report *idrl.FitReport) error {
	for i := range f.sites {
		f.sites[i].nu *= -1
	}
	f.theta = product(f.from.theta, f.sites, report)
	for i := range f.people {
		f.people[i].bases = f.all
	}
	for i := range f.sites {
		f.readAgain(i)
	}
	f.settle(report)
	f.damping, f.measured, f.ratio = 1, 0, 1
	return f.run(ctx, ownOptions, report)
}

// readAgain reads answer i under the manners of its annotator, and keeps its Gaussian factors.
func (f *joining) readAgain(i int) {
	s, says := &f.sites[i], &f.says[i]
	p := &f.people[says.who]
	mean, v := idrl.Moments(f.theta, s.query.X, f.theta.mean, f.sx)
	offset, offsetVar, ok := cavityOf(p.tau-says.tau, p.nu-says.nu, f.offsetVar > 0)
	left := 1 - s.tau*v
	if !ok || left <= 0 || says.meant[0] == unread || !f.Own.read(f.read, s.observation, p.bases, (mean-v*s.nu)/left, v/left, offset, offsetVar) {
		return
	}
	for _, b := range p.bases {
		says.meant[b] = float32(max(leastRead, f.read.meant[b]))
	}
}
