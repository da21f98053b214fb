package belief

import (
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/mat"
)

// FromPrecision returns N(mean, precision⁻¹). It copies its arguments. It returns an error
// of kind Invalid if their sizes disagree, if a number is not finite, or if precision is
// not positive definite.
func FromPrecision(mean []float64, precision *mat.SymDense) (*Gaussian, error) {
	d := precision.SymmetricDim()
	if d != len(mean) || d > MaxDim {
		return nil, idrl.Errorf(idrl.Invalid, "a belief needs a mean and a precision of one size up to %d; got %d and %d", MaxDim, len(mean), d)
	}
	var c mat.Cholesky
	cov := mat.NewSymDense(d, nil)
	if !c.Factorize(precision) || c.InverseTo(cov) != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the precision of a belief must be positive definite")
	}
	return NewGaussian(mean, cov)
}
