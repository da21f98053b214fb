package acquisition_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"

	"gonum.org/v1/gonum/floats"
)

// weighty returns weights from 0.05 to 1, some of them far apart.
func weighty(n int, seed uint64) []float64 {
	out, stream := make([]float64, n), rng.New(seed, "weights", 0)
	for i := range out {
		out[i] = math.Exp(-3 * stream.Float64())
	}
	return out
}

// Whatever chooses, the query is one with the largest value times its weight, of all of them.
func TestWeightedChoice(t *testing.T) {
	moved := 0
	for seed := range uint64(12) {
		for _, kind := range []idrl.QueryKind{idrl.CompareClips, idrl.RateClip} {
			for _, m := range acquisition.LiveFor(kind) {
				stream := rng.New(seed, "game", 0)
				p := correlated(t, 4, stream)
				g := random(4, 6, 60, kind, stream)
				weights := weighty(60, seed)
				in := input(probit(p), p, g, rng.New(seed, "tie", 0))
				values := score(t, m.New(false), in)
				if floats.Min(values) < 0 {
					t.Errorf("%s has a value of %v, which cannot be weighted", m.Name, floats.Min(values))
				}
				plain := floats.MaxIdx(values)
				floats.Mul(values, weights)
				in.Rand = rng.New(seed, "tie", 0)
				in.Weight = func(q int, mean, variance float64) float64 {
					if mean != in.Table.Means()[q] || variance != in.Table.Vars()[q] {
						t.Fatalf("query %d has mean %v and variance %v, not those of the table", q, mean, variance)
					}
					return weights[q]
				}
				got := choose(t, m.New(false), in).Query
				if best := floats.Max(values); !(values[got] >= best*(1-1e-6)) {
					t.Errorf("%s, %s, seed %d: query %d is worth %v, the best is worth %v", m.Name, kind, seed, got, values[got], best)
				}
				if got != plain && floats.Max(values) > 0 {
					moved++
				}
				in.Weight, in.Rand = nil, rng.New(seed, "tie", 0)
				if again := choose(t, m.New(false), in).Query; m.Name != "uniform" && again != plain {
					t.Errorf("%s, %s, seed %d: without weights query %d is chosen, want %d", m.Name, kind, seed, again, plain)
				}
			}
		}
	}
	if moved < 50 {
		t.Errorf("the weights decided %d choices: they are hardly tested", moved)
	}
}

// Weights leave Uniform what it is.
func TestWeightsOfUniform(t *testing.T) {
	stream := rng.New(1, "game", 0)
	p := correlated(t, 4, stream)
	in := input(probit(p), p, random(4, 2, 4, idrl.CompareClips, stream), stream)
	in.Weight = func(q int, _, _ float64) float64 { return float64(1 + 100*q) }
	var times [4]int
	for range 4000 {
		times[choose(t, acquisition.Uniform{}, in).Query]++
	}
	for q, n := range times {
		if math.Abs(float64(n)-1000) > 4*math.Sqrt(750) {
			t.Errorf("query %d was drawn %d times of 4,000", q, n)
		}
	}
}

// BenchmarkWeights says by how much weights that are logistic in the moments of a query lengthen a choice.
func BenchmarkWeights(b *testing.B) {
	s := size{200, 200, 5000}
	for _, m := range acquisition.LiveFor(idrl.CompareClips) {
		b.Run(fmt.Sprintf("%s/%v", m.Name, s), func(b *testing.B) {
			w := newBench(b, idrl.CompareClips, s)
			in := input(w.model, w.belief, w.g, w.stream)
			var spent [2]time.Duration
			for b.Loop() {
				for k := range spent {
					in.Weight = nil
					if k == 1 {
						in.Weight = func(q int, mean, variance float64) float64 {
							return 1 / (1 + math.Exp(-1.5-2.5*math.Log(float64(1+q%7))-0.3*min(3, math.Abs(mean)/math.Sqrt(variance))))
						}
					}
					start := time.Now()
					choose(b, m.New(false), in)
					spent[k] += time.Since(start)
				}
			}
			b.ReportMetric(float64(spent[1])/float64(spent[0]), "x-plain")
			b.ReportMetric(float64(spent[1]-spent[0])/float64(b.N)/1e6, "ms-more")
		})
	}
}
