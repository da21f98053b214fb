package mujoco

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// mix stores the mixture of the actions of parts by a high-level action u in dst:
//
//	a = Σ_k softmax(u)_k parts_k
//
// where u has one number more than there are parts, the last for doing nothing.
// Source: docs/paper-code.md, section 1.6 (Ant-Corridor).
func mix(dst, u []float64, parts [][]float64) {
	if len(u) != len(parts)+1 {
		panic("mujoco: a mixture needs a weight for each part and one for doing nothing")
	}
	clear(dst)
	largest, total := floats.Max(u), 0.0 // so that the exponential cannot overflow
	for _, v := range u {
		total += math.Exp(v - largest)
	}
	for k, part := range parts {
		floats.AddScaled(dst, math.Exp(u[k]-largest)/total, part)
	}
}
