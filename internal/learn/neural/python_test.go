package neural_test

import (
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/networks/networkstest"
	"tiebreak/internal/learn/neural"
)

// What another program computes from the files is what this one computes, to 1e-6.
func TestPythonComputesTheSameReward(t *testing.T) {
	w := newTask(1)
	m := train(t, neural.Config{ObsDim: 5, ActDim: 2, Updates: 300}, w.answers(40), nil, 1)
	text := must.Get(m.Describe())(t)
	var rows [][]float64
	var want []float64
	largest := 0.0
	for range 20 {
		s := w.clip()
		s.Obs[1][2], s.Actions[2][0] = float32(math.NaN()), float32(math.Inf(1))
		for i, a := range s.Actions {
			var row []float64
			for _, v := range append(append([]float32{}, s.Obs[i]...), a...) {
				row = append(row, float64(v))
			}
			rows = append(rows, row)
		}
		want = append(want, rewards(m, s)...)
	}
	for i, got := range networkstest.Evaluate(t, networkstest.SaveFiles(t, encode(t, m), text), rows) {
		largest = max(largest, math.Abs(want[i]))
		if math.Abs(got[0]-want[i]) > 1e-6 {
			t.Errorf("row %d: %v in Python, %v here", i, got[0], want[i])
		}
	}
	if !(largest > 0.05) {
		t.Errorf("the rewards are at most %v: too small to tell", largest)
	}
}

// A network under the belief after further answers is the network with other weights of
// the last layer.
func TestUnderAnotherBelief(t *testing.T) {
	w := newTask(1)
	m := train(t, small, w.answers(12), nil, 1)
	p := m.Posterior()
	x := make([]float64, p.Dim())
	x[0] = 1
	after := p.ConditionOnValue(x, 2, 0.1)
	got := must.Get(m.Under(after))(t)
	s, e := w.clip(), m.Evaluator(after.Mean(nil))
	want := make([]float64, s.Len())
	for i := range want {
		e.Reward(want[i:i+1], s.Obs[i], s.Actions[i], 1)
	}
	before := rewards(m, s)
	for i, v := range rewards(got, s) {
		if v != want[i] || v == before[i] {
			t.Errorf("step %d: reward %v, want %v; before the answer it was %v", i, v, want[i], before[i])
		}
	}
	if got.Posterior() != after || got.Report() != m.Report() {
		t.Error("the belief or the report is another")
	}
	if _, err := m.Under(train(t, neural.Config{ObsDim: 5, ActDim: 2, Updates: 1}, w.answers(5), nil, 1).Posterior()); err == nil {
		t.Error("a belief about other features is no error")
	}
}
