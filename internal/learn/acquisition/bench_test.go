package acquisition_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
)

// sizes of a problem: dimension, policies, queries.
type size struct{ d, policies, queries int }

func (s size) String() string { return fmt.Sprintf("d=%d/P=%d/Q=%d", s.d, s.policies, s.queries) }

// A bench is a belief after some answers, and what a question is chosen from.
type bench struct {
	model  belief.Model
	belief *belief.Gaussian
	g      game
	stream *rand.Rand
}

func newBench(b *testing.B, kind idrl.QueryKind, s size) bench {
	b.Helper()
	stream := rng.New(10, "bench", 0)
	p := correlated(b, s.d, stream)
	m := belief.Model{
		Start: p, Comparison: belief.Probit{NoiseStd: math.Sqrt(float64(s.d)) / 3, TieBand: 0.2}, Rating: belief.Rating{NoiseVar: 0.3},
	}
	return bench{m, p, random(s.d, s.policies, s.queries, kind, stream), stream}
}

// pass returns the time of one pass over the matrix of the queries at the speed of
// memory, a plain sum: the shortest of several.
func pass(s size) time.Duration {
	c := make([]float64, s.queries*s.d)
	for i := range c {
		c[i] = 1
	}
	best := time.Duration(math.MaxInt64)
	var sum float64
	for range 20 {
		start := time.Now()
		sum += floats.Sum(c)
		best = min(best, time.Since(start))
	}
	if sum == 0 {
		panic("the sum was not computed")
	}
	return max(best, 1)
}

var benchSizes = []size{
	{11, 5, 55},
	{11, 50, 1000},
	{39, 50, 1000},
	{39, 50, 5000},
	{39, 200, 20_000},
	{100, 50, 5000},
	{200, 5, 5000},
	{200, 200, 5000},
	{200, 200, 20_000},
}

// BenchmarkScratch makes a table and chooses from it by IDRL.
func BenchmarkScratch(b *testing.B) {
	for _, s := range benchSizes {
		b.Run(s.String(), func(b *testing.B) {
			w := newBench(b, idrl.CompareClips, s)
			b.ReportAllocs()
			for b.Loop() {
				choose(b, acquisition.IDRL{}, input(w.model, w.belief, w.g, w.stream))
			}
		})
	}
}

// BenchmarkAnswer updates the belief and the table with an answer and chooses by
// IDRL. The metric x-bandwidth is its time by that of two passes over the matrix
// of the queries, one for the update and one for the values.
func BenchmarkAnswer(b *testing.B) {
	for _, kind := range []idrl.QueryKind{idrl.RateClip, idrl.CompareClips} {
		for _, s := range benchSizes {
			b.Run(fmt.Sprintf("%s/%v", kind, s), func(b *testing.B) {
				w := newBench(b, kind, s)
				answer := idrl.Answer{Choice: idrl.ChoseA}
				if !kind.Comparison() {
					answer = idrl.Answer{Choice: idrl.Rated, Rating: 0.5}
				}
				fresh := input(w.model, w.belief, w.g, w.stream)
				in := *fresh
				var p idrl.Posterior
				n := 0
				b.ReportAllocs()
				for b.Loop() {
					if n%20 == 0 { // so that the belief does not wear out
						b.StopTimer()
						in.Table, p = fresh.Table.Clone(), w.belief
						b.StartTimer()
					}
					q := w.g.Queries[n*7%s.queries]
					next := must.Get(w.model.Condition(p, q, answer))(b)
					in.Table.Condition(q, answer, next)
					choose(b, acquisition.IDRL{}, &in)
					p = next
					n++
				}
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(2*pass(s)), "x-bandwidth")
			})
		}
	}
}

// BenchmarkMethods chooses by every method that needs no solves.
func BenchmarkMethods(b *testing.B) {
	for _, s := range []size{{11, 20, 1000}, {39, 50, 1000}, {200, 200, 5000}} {
		for _, m := range acquisition.Methods() {
			if m.Fits(idrl.CompareClips, false) != nil || m.Name == "epd" {
				continue
			}
			b.Run(m.Name+"/"+s.String(), func(b *testing.B) {
				w := newBench(b, idrl.CompareClips, s)
				in := input(w.model, w.belief, w.g, w.stream)
				b.ReportAllocs()
				for b.Loop() {
					choose(b, m.New(false), in)
				}
			})
		}
	}
}
