package belief

import (
	"testing"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func TestFromPrecision(t *testing.T) {
	g, err := FromPrecision([]float64{1, 2}, mat.NewSymDense(2, []float64{2, 1, 1, 3}))
	if err != nil {
		t.Fatal(err)
	}
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

// A belief under a likelihood for each annotator is the belief under that of the one who
// answered.
func TestPerAnnotator(t *testing.T) {
	sure, unsure := Probit{NoiseStd: 0.1}, Probit{NoiseStd: 3}
	start := Isotropic(2, 1)
	q := idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips}, X: []float64{1, -1}}
	both := Model{Start: start, Comparison: PerAnnotator{Of: map[idrl.AnnotatorID]idrl.Likelihood{"ann": sure}, Other: unsure}}
	for who, l := range map[idrl.AnnotatorID]idrl.Likelihood{"ann": sure, "bob": unsure} {
		a := idrl.Answer{Choice: idrl.ChoseA, Annotator: who}
		got, err := both.Condition(start, q, a)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Model{Start: start, Comparison: l}.Condition(start, q, a)
		if err != nil {
			t.Fatal(err)
		}
		if !floats.Equal(got.Mean(nil), want.Mean(nil)) {
			t.Errorf("%s: mean %v, want %v", who, got.Mean(nil), want.Mean(nil))
		}
	}
	if got, want := both.Comparison.Info(0.3, 2), unsure.Info(0.3, 2); got != want {
		t.Errorf("information %v, want that of somebody else, %v", got, want)
	}
}
