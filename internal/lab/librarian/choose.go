package librarian

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/plan/behaviour"
)

// Starts of the episodes over which features are averaged.
const starts = 3

// Of the first behaviours of a library, and of all, so many are chosen among those
// that do not fall, if there are: all falls look much the same.
const (
	firstSteady, first = 12, 16
	steadyShare        = 0.75
)

// order returns the places of what is chosen: skills and the ends of features, and what
// looks most different from them; all by farthest point, skills first.
func (b *Builder) order() ([]int, error) {
	var skills, ends, all []int
	for i, f := range b.found {
		if all = append(all, i); f.must {
			skills = append(skills, i)
		}
	}
	for _, c := range b.champions() {
		if !slices.Contains(ends, c.at) && !b.found[c.at].must {
			ends = append(ends, c.at)
			b.found[c.at].Name = c.name + ": " + b.found[c.at].Name
		}
	}
	chosen, err := b.spread(all, slices.Concat(skills, ends))
	if err != nil {
		return nil, err
	}
	return b.spread(chosen, skills)
}

// spread returns the places of behaviours by farthest point, of those among which it
// chooses, beginning with some of them.
func (b *Builder) spread(among, chosen []int) (_ []int, err error) {
	all, steady := make([][]*measure.View, len(b.found)), make([][]*measure.View, len(b.found))
	for _, i := range among {
		all[i] = b.found[i].views
		if !b.found[i].falls {
			steady[i] = all[i]
		}
	}
	count := cmp.Or(b.Count, 32)
	for _, part := range []struct {
		among [][]*measure.View
		n     int
	}{{steady, firstSteady}, {all, first}, {steady, max(first, int(steadyShare*float64(count)))}, {all, count}} {
		for _, i := range chosen {
			steady[i] = all[i] // it stays chosen
		}
		if chosen, err = measure.Spread(part.among, chosen, max(part.n, len(chosen))); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// choose orders what was found and measures it.
func (b *Builder) choose(ctx context.Context) ([]library.Behaviour, error) {
	b.report("choosing among " + fmt.Sprint(len(b.found)))
	chosen, err := b.order()
	if err != nil {
		return nil, err
	}
	var out []library.Behaviour
	for _, i := range chosen {
		f := &b.found[i]
		if f.Mus == nil {
			if err := b.measure(ctx, f); err != nil {
				return nil, err
			}
		}
		if f.Mus != nil {
			out = append(out, f.Behaviour)
		}
	}
	return out, nil
}

// measure sets the discounted features of whole episodes, and whether the robot falls in
// one. There are none if the simulation breaks down.
func (b *Builder) measure(ctx context.Context, f *found) error {
	p, err := behaviour.New(b.env.Spec(), f.Params)
	if err != nil {
		return err
	}
	faller, falls := b.env.(idrl.Faller)
	for n := range starts {
		if err := ctx.Err(); err != nil {
			return err
		}
		mu, weight := make([]float64, b.env.Spec().FeatureDim()), 1.0
		for _, step := range idrl.EpisodeOf(b.env, p, stream("measured", uint64(n))) {
			if step.Broken {
				f.Mus, f.falls = nil, true
				return nil
			}
			if step.Kind != idrl.First {
				floats.AddScaled(mu, weight, step.Phi)
				weight *= b.env.Spec().Discount
			}
			f.falls = f.falls || falls && faller.Fallen()
		}
		f.Mus = append(f.Mus, mu)
	}
	return nil
}
