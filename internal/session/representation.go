package session

import (
	"tiebreak/internal/idrl"
)

// A Weighted is a Representation that was learnt together with weights of its features.
type Weighted interface {
	idrl.Representation

	// Weights returns the weights, of length d. θ·Φ is the learnt reward. The caller may change the
	// result.
	Weights() []float64
}
