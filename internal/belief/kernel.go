package belief

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A Kernel is a prior covariance of the rewards of two states, whose
// representations x and y have one length. It is symmetric and positive
// semi-definite.
type Kernel interface{ At(x, y []float64) float64 }

// SE is the squared-exponential kernel Var·exp(−½|x − y|²/Length²).
type SE struct {
	Var    float64 // of a reward, > 0
	Length float64 // distance over which rewards are alike, > 0, in units of x
}

// LinearKernel is Var·x·y: the rewards θ·x of independent weights with variance
// Var.
type LinearKernel struct {
	Var float64 // of a weight, > 0
}

// ObjectType is the kernel of states that differ only in the type of what stands
// there: Same if x = y and Different else. It is positive semi-definite if
// 0 ≤ Different ≤ Same. For gridworld the paper says 1 and 0, its code 4 and 4/e
// (docs/paper-code.md, section 1.4).
type ObjectType struct{ Same, Different float64 }

var (
	_ Kernel = SE{}
	_ Kernel = LinearKernel{}
	_ Kernel = ObjectType{}
)

// At returns the covariance of the rewards at x and y.
func (k SE) At(x, y []float64) float64 {
	z := floats.Distance(x, y, 2) / k.Length
	return k.Var * math.Exp(-0.5*z*z)
}

// At returns the covariance of the rewards at x and y.
func (k LinearKernel) At(x, y []float64) float64 { return k.Var * floats.Dot(x, y) }

// At returns the covariance of the rewards at x and y.
func (k ObjectType) At(x, y []float64) float64 {
	if slices.Equal(x, y) {
		return k.Same
	}
	return k.Different
}
