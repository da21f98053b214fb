package neural_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
)

// A training that goes on from a model begins where that model was, also under the scale of
// other clips: one update at a low rate leaves the rewards of new clips in nearly the same
// order, and after many the objective is no worse than from weights that are drawn.
func TestWarmStart(t *testing.T) {
	w := newTask(21)
	d := w.answers(120)
	first := idrl.Dataset{Queries: d.Queries[:60], Answers: d.Answers[:60], Shown: d.Shown[:60]}
	cfg := neural.Config{ObsDim: 5, ActDim: 2, Hidden: []int{16, 16}}
	cold := train(t, cfg, first, nil, 1)
	brief := cfg
	brief.Updates = 1
	next := train(t, brief, d, cold, 2)
	same := 0.0
	const n = 300
	for range n {
		a, b := w.clip(), w.clip()
		_, p := predict(cold, cold.Posterior(), a, b)
		_, q := predict(next, next.Posterior(), a, b)
		if (p[0] > p[1]) == (q[0] > q[1]) {
			same += 1. / n
		}
	}
	if same < 0.9 {
		t.Errorf("after one update only %v of the preferences are the same", same)
	}
	warm, fresh := train(t, cfg, d, cold, 3).Report(), train(t, cfg, d, nil, 3).Report()
	if warm.Objective > 1.1*fresh.Objective || math.IsNaN(warm.Objective) {
		t.Errorf("objective %v from the model before, and %v from drawn weights", warm.Objective, fresh.Objective)
	}
}

// BenchmarkTrain is the training of a new network of 64 and 64 units on comparisons of
// clips of 40 steps, 17 observations and 6 actions.
func BenchmarkTrain(b *testing.B) {
	for name, cfg := range map[string]neural.Config{
		"corrected": {ObsDim: 17, ActDim: 6}, "paper": {ObsDim: 17, ActDim: 6, Mode: neural.Paper},
	} {
		b.Run(name+"/1400", func(b *testing.B) {
			d := wide(1400)
			for b.Loop() {
				must.Get(neural.Train(b.Context(), cfg, d, nil, rng.New(1, "train", 0)))(b)
			}
		})
	}
}

// BenchmarkReward is the reward of one of many steps.
func BenchmarkReward(b *testing.B) {
	m := must.Get(neural.Train(b.Context(), neural.Config{ObsDim: 17, ActDim: 6}, idrl.Dataset{}, nil, rng.New(1, "train", 0)))(b)
	const n = 4096
	e, dst := m.Evaluator(nil), make([]float64, n)
	obs, act := make([]float32, n*17), make([]float32, n*6)
	b.ReportAllocs()
	for b.Loop() {
		e.Reward(dst, obs, act, n)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/step")
}

// wide returns answers about clips of random numbers, by a linear reward.
func wide(n int) (d idrl.Dataset) {
	stream := rng.New(1, "wide", 0)
	for range n {
		var shown []idrl.Steps
		var sums [2]float64
		for k := range sums {
			var s idrl.Steps
			for range 40 {
				o, a := make([]float32, 17), make([]float32, 6)
				for i := range o {
					o[i] = float32(stream.NormFloat64())
				}
				for i := range a {
					a[i] = float32(stream.NormFloat64())
				}
				sums[k] += float64(o[0] - o[5] + a[2])
				s.Obs, s.Actions = append(s.Obs, o), append(s.Actions, a)
			}
			shown = append(shown, s)
		}
		choice := idrl.ChoseB
		if sums[0] > sums[1] {
			choice = idrl.ChoseA
		}
		d.Queries, d.Answers = append(d.Queries, idrl.Query{Kind: idrl.CompareClips}), append(d.Answers, idrl.Answer{Choice: choice})
		d.Shown = append(d.Shown, shown)
	}
	return d
}
