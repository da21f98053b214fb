package solver

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// A Mixture turns the action of a high-level policy into one of its parts' kind:
//
//	a = Σ_k softmax(u)_k π_k(obs)
//
// where u has one number more than there are parts, the last for doing nothing.
// Each part clips its action; their mixture lies within the same bounds. Source:
// reference "authors-code", section 1 (Ant-Corridor).
type Mixture struct {
	parts []*Linear
}

// NewMixture returns the mixture of the parts. It panics if there are none or
// they differ in the lengths of actions or observations.
func NewMixture(parts ...*Linear) *Mixture {
	for _, p := range parts {
		if len(p.rows) != len(parts[0].rows) || len(p.rows[0]) != len(parts[0].rows[0]) {
			panic("solver: the parts of a mixture have different shapes")
		}
	}
	if len(parts) == 0 {
		panic("solver: a mixture has no parts")
	}
	return &Mixture{parts}
}

// Act stores the low-level action for the high-level action u, of one number
// more than there are parts, in dst and returns it. It allocates nothing.
func (m *Mixture) Act(dst, u, obs []float64) []float64 {
	if len(u) != len(m.parts)+1 || len(dst) != len(m.parts[0].rows) {
		panic("solver: slices have the wrong length")
	}
	clear(dst)
	largest, total := floats.Max(u), 0.0 // so that the exponential cannot overflow
	for _, v := range u {
		total += math.Exp(v - largest)
	}
	for k, p := range m.parts {
		weight := math.Exp(u[k]-largest) / total
		for i := range dst {
			dst[i] += weight * p.component(i, obs)
		}
	}
	return dst
}
