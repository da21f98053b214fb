package librarian

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"

	"gonum.org/v1/gonum/floats"
)

// A mutation of a network changes its last layer, by up to a share of its size.
const (
	leastMutation = 0.01
	mutationSpan  = 20
)

// mutants tries mutations of what was found: every other time of what is at the end of a
// feature.
func (b *Builder) mutants(ctx context.Context) error {
	stream := stream("mutants", 0)
	b.report("mutations of what was found")
	for k := range b.Mutants {
		if len(b.found) == 0 {
			return nil
		}
		parent := b.found[stream.IntN(len(b.found))]
		if ends := b.champions(); k%2 == 0 && len(ends) > 0 {
			parent = b.found[ends[stream.IntN(len(ends))].at]
		}
		params, err := b.mutate(parent.Params, stream)
		if err != nil {
			return err
		}
		if err := b.take(ctx, fmt.Sprintf("%s, changed %d", root(parent.Name), k+1), params, false); err != nil {
			return err
		}
	}
	return nil
}

// A champion is the behaviour with the largest or the smallest value of a feature.
type champion struct {
	at   int // place in found
	name string
}

// champions returns, of all that can be watched and does not fall, what has most and least
// of each feature that varies.
func (b *Builder) champions() (out []champion) {
	for i, name := range b.env.Spec().FeatureNames {
		if b.Shown != nil && !slices.Contains(b.Shown, name) {
			continue
		}
		least, most := -1, -1
		for k, f := range b.found {
			if f.falls || !watchable(f.views) {
				continue
			}
			if least < 0 || f.phi[i] < b.found[least].phi[i] {
				least = k
			}
			if most < 0 || f.phi[i] > b.found[most].phi[i] {
				most = k
			}
		}
		if most < 0 || !(b.found[most].phi[i]-b.found[least].phi[i] > 1e-9) {
			continue
		}
		out = append(out, champion{most, "most " + strings.ToLower(name)}, champion{least, "least " + strings.ToLower(name)})
	}
	return out
}

// root returns the name of the skill that a behaviour is a mutation of.
func root(name string) string {
	name, _, _ = strings.Cut(name, ",")
	return name
}

// mutate returns params with noise: on the last layer of a network, the weights of a linear
// policy, or the oscillator of a gait.
func (b *Builder) mutate(params []float64, stream *rand.Rand) ([]float64, error) {
	spec := b.env.Spec()
	if own, ok := behaviour.Gait.Own(params); ok {
		return behaviour.Gait.Params(solver.Mutate(spec, own, stream)), nil
	}
	out := slices.Clone(params)
	part := out[1 : 1+spec.Actions.Dim()*spec.ObsDim]
	if own, ok := behaviour.Network.Own(out); ok {
		part = lastWeights(own, spec)
	}
	share := cmp.Or(b.Wide, 1) * leastMutation * (1 + (mutationSpan-1)*stream.Float64()*stream.Float64())
	size := rms(part)
	for i := range part {
		part[i] += share * size * stream.NormFloat64()
	}
	return out, nil
}

func rms(x []float64) float64 { return floats.Norm(x, 2) / math.Sqrt(float64(len(x))) }
