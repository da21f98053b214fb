package belief

import (
	"fmt"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A fit and an update of an average, beside those of its model.
func BenchmarkAverage(b *testing.B) {
	for _, test := range []struct{ d, n int }{{5, 30}, {25, 30}, {25, 300}, {100, 100}} {
		m := Model{Start: Isotropic(test.d, 1), Comparison: Probit{NoiseStd: 3, TieBand: 0.75}}
		v, stream := averaged(b, m, idrl.CompareClips), rng.New(1, "bench", 0)
		truth := normals(test.d, stream)
		var qs []idrl.QueryVector
		var as []idrl.Answer
		for range test.n {
			q := idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips}, X: normals(test.d, stream)}
			floats.Scale(3, q.X)
			qs, as = append(qs, q), append(as, compared(floats.Dot(q.X, truth)+3*stream.NormFloat64(), 0.75))
		}
		name := fmt.Sprint(test.d, " weights, ", test.n, " answers")
		b.Run("fit/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := m.Fit(b.Context(), m.Prior(), qs, as); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("fit of average/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := v.Fit(b.Context(), v.Prior(), qs, as); err != nil {
					b.Fatal(err)
				}
			}
		})
		p, _, err := v.Fit(b.Context(), v.Prior(), qs, as)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("update of average/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must.Get(v.Condition(p, qs[0], as[0]))(b)
			}
		})
	}
}
