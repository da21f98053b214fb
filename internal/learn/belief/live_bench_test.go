package belief

import (
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

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
