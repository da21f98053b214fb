package belief

import (
	"fmt"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// BenchmarkOwn measures an update, the information factor of a question and a fit where each
// annotator's noise is learnt, of three annotators:
//
//	go test -run xxx -bench Own ./internal/learn/belief
func BenchmarkOwn(b *testing.B) {
	for _, kind := range []idrl.QueryKind{idrl.CompareClips, idrl.RateClip} {
		for _, d := range []int{5, 25} {
			m := Model{Start: Isotropic(d, 1), Comparison: Probit{NoiseStd: 1.5, TieBand: 0.4}, Rating: RatingClipped{NoiseVar: 0.05}}
			o, stream := ownOf(b, m, kind), rng.New(1, "bench", 0)
			people := []answerer{{id: "ann", noise: 1, tie: 0.4, std: 1.5, scale: 1}, {id: "bob", noise: 1, tie: 0.4, std: 1.5, scale: 1}, {id: "clicker", lapse: 1}}
			qs, as := answersOf(kind, people, normals(d, stream), 300, stream)
			j := fitOwn(b, o, qs[:30], as[:30])
			name := fmt.Sprintf("%s/%d weights/", kind, d)
			b.Run(name+"update", func(b *testing.B) {
				for b.Loop() {
					must.Get(o.Condition(j, qs[31], as[31]))(b)
				}
			})
			b.Run(name+"information", func(b *testing.B) {
				l := o.Asking(j, "bob").Likelihood(qs[0].Query)
				for b.Loop() {
					l.Info(0.3, 1)
				}
			})
			for _, n := range []int{30, 300} {
				b.Run(fmt.Sprint(name, "fit of ", n), func(b *testing.B) {
					for b.Loop() {
						fitOwn(b, o, qs[:n], as[:n])
					}
				})
			}
		}
	}
}

// BenchmarkSession is the posteriors of a session of 750 answers of eight people:
//
//	go test -run xxx -bench Session ./internal/learn/belief
func BenchmarkSession(b *testing.B) {
	m := Model{Start: Isotropic(5, 1), Comparison: Probit{NoiseStd: 1.5, TieBand: 0.4}}
	o, stream := ownOf(b, m, idrl.CompareClips), rng.New(1, "bench", 0)
	qs, as := answersOf(idrl.CompareClips, crowd(8, 1, "random"), normals(5, stream), 750, stream)
	for b.Loop() {
		grown(b, o, qs, as)
	}
}
