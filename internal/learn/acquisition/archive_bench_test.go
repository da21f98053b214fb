package acquisition_test

import (
	"fmt"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
)

// What a choice by LVAR costs by the number of known policies, built afresh as a
// session does for each question: 2,000 queries.
func BenchmarkArchive(b *testing.B) {
	for _, d := range []int{5, 25} {
		for _, policies := range []int{36, 236, 1036, 3036} {
			b.Run(fmt.Sprintf("d%d/p%d", d, policies), func(b *testing.B) {
				stream := rng.New(1, "archive", 0)
				vector := func() []float64 {
					v := make([]float64, d)
					for i := range v {
						v[i] = stream.NormFloat64()
					}
					return v
				}
				var known []idrl.Candidate
				for range policies {
					known = append(known, idrl.Candidate{Mu: vector()})
				}
				queries := make([]idrl.QueryVector, 2000)
				for i := range queries {
					queries[i] = idrl.QueryVector{Query: idrl.Query{Kind: idrl.CompareClips}, X: vector()}
				}
				m := belief.Model{Start: belief.Isotropic(d, 1), Comparison: belief.Probit{NoiseStd: 3, TieBand: 0.75}}
				var t acquisition.Table
				b.ReportAllocs()
				for b.Loop() {
					t.Reset(m, m.Prior(), queries)
					t.SetPolicies(known)
					must.Get(acquisition.Select(acquisition.LVAR{}, &acquisition.Input{Table: &t, Candidates: 6, Rand: stream}))(b)
				}
			})
		}
	}
}
