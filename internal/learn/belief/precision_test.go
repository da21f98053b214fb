package belief

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func TestFromPrecision(t *testing.T) {
	g := must.Get(FromPrecision([]float64{1, 2}, mat.NewSymDense(2, []float64{2, 1, 1, 3})))(t)
	cov := covariance(g)
	for i, want := range [...]float64{0.6, -0.2, -0.2, 0.4} { // the inverse
		if got := cov.At(i/2, i%2); !floats.EqualApprox([]float64{got}, []float64{want}, 1e-15) {
			t.Errorf("covariance %d = %v, want %v", i, got, want)
		}
	}
	for name, p := range map[string]*mat.SymDense{
		"of another size": mat.NewSymDense(1, []float64{1}), "indefinite": mat.NewSymDense(2, []float64{1, 2, 2, 1}),
	} {
		if _, err := FromPrecision([]float64{1, 2}, p); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("a precision %s: %v, want an error of kind Invalid", name, err)
		}
	}
}
