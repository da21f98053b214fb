package librarian

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tiebreak/internal/behaviour"
	"tiebreak/internal/idrl"
	"tiebreak/internal/picture"

	"gonum.org/v1/gonum/floats"
)

// Starts of the episodes over which features are averaged.
const starts = 3

// Of the behaviours that a session shows first, and of all, so many are chosen among those
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
		if f.end {
			ends = append(ends, i)
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
	all, steady := make([][]*picture.View, len(b.found)), make([][]*picture.View, len(b.found))
	for _, i := range among {
		all[i] = b.found[i].views
		if !b.found[i].falls {
			steady[i] = all[i]
		}
	}
	count := cmp.Or(b.Count, 32)
	for _, part := range []struct {
		among [][]*picture.View
		n     int
	}{{steady, firstSteady}, {all, first}, {steady, max(first, int(steadyShare*float64(count)))}, {all, count}} {
		for _, i := range chosen {
			steady[i] = all[i] // it stays chosen
		}
		if chosen, err = picture.Spread(part.among, chosen, max(part.n, len(chosen))); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// choose orders what was found and measures it.
func (b *Builder) choose(ctx context.Context) ([]idrl.Behaviour, error) {
	b.report("choosing among " + fmt.Sprint(len(b.found)))
	chosen, err := b.order()
	if err != nil {
		return nil, err
	}
	var out []idrl.Behaviour
	for _, i := range chosen {
		one := b.found[i].Behaviour
		if one.Mus, err = b.measure(ctx, one.Params); err != nil {
			return nil, err
		}
		if one.Mus != nil {
			out = append(out, one)
		}
	}
	return out, nil
}

// measure returns the discounted features of whole episodes; nil if the simulation breaks
// down in one.
func (b *Builder) measure(ctx context.Context, params []float64) (mus [][]float64, err error) {
	p, err := behaviour.New(b.env.Spec(), params)
	if err != nil {
		return nil, err
	}
	for n := range starts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		mu, weight := make([]float64, b.env.Spec().FeatureDim()), 1.0
		for _, step := range idrl.EpisodeOf(b.env, p, b.stream("measured", n)) {
			if step.Broken {
				return nil, nil
			}
			if step.Kind != idrl.First {
				floats.AddScaled(mu, weight, step.Phi)
				weight *= b.env.Spec().Discount
			}
		}
		mus = append(mus, mu)
	}
	return mus, nil
}
