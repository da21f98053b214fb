package idrl

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Stills returns a still of every state of a tabular environment, in order.
func Stills(env Tabular) []Clip {
	spec := env.Spec()
	phi := mat.NewDense(env.NumStates(), spec.FeatureDim(), nil)
	env.Features(phi)
	out := make([]Clip, env.NumStates())
	for s := range out {
		out[s] = NewStill(spec.ID, "states", s, []float64{float64(s), 0}, slices.Clone(phi.RawRowView(s)))
	}
	return out
}

// DistinctStills returns the still of the first state of each distinct row of features:
// states with equal features have equal rewards.
func DistinctStills(env Tabular) (out []Clip) {
	for _, c := range Stills(env) {
		if !slices.ContainsFunc(out, func(o Clip) bool { return slices.Equal(o.Phi, c.Phi) }) {
			out = append(out, c)
		}
	}
	return out
}
