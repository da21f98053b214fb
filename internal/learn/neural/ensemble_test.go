package neural_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
)

var members = neural.Config{ObsDim: 5, ActDim: 2, Hidden: []int{16, 16}, Updates: 1000}

func ensemble(t *testing.T, k int, d idrl.Dataset, warm *neural.Ensemble) *neural.Ensemble {
	t.Helper()
	e, err := neural.TrainEnsemble(t.Context(), members, k, d, warm, rng.New(1, "ensemble", 0))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEnsemble(t *testing.T) {
	w := newTask(11)
	d := w.answers(100)
	all := ensemble(t, 3, d, nil)
	type guess struct {
		right    bool
		variance float64
	}
	var guesses []guess
	const n = 400
	for range n {
		a, b := w.clip(), w.clip()
		p, v := all.Preference(all.Sums(a), all.Sums(b))
		q, _ := all.Preference(all.Sums(b), all.Sums(a))
		if math.Abs(p+q-1) > 1e-9 || v < 0 || v > 0.25 {
			t.Fatalf("preferences %v and %v, disagreement %v", p, q, v)
		}
		guesses = append(guesses, guess{(p > 0.5) == (w.logOdds(a, b) > 0), v})
	}
	slices.SortFunc(guesses, func(a, b guess) int { return cmp.Compare(a.variance, b.variance) })
	var right [2]float64 // of the half with less and with more disagreement
	for i, g := range guesses {
		if g.right {
			right[2*i/n] += 2. / n
		}
	}
	if right[0] < 0.9 || right[1] < 0.65 || right[0] < right[1]+0.1 {
		t.Errorf("where the networks agree %v of the preferences are right, and else %v", right[0], right[1])
	}
	obs, act := flat(d)
	rows := len(obs) / 5
	r := make([]float64, rows)
	e := all.Evaluator(rows)
	e.Reward(r, obs, act, rows)
	var mean, square float64
	for _, v := range r {
		mean += v / float64(rows)
	}
	for _, v := range r {
		square += (v - mean) * (v - mean) / float64(rows)
	}
	if math.Abs(mean) > 1e-6 || !(square > 0.3 && square < 1+1e-6) {
		t.Errorf("the mean of normalised rewards has mean %v and variance %v, want 0 and up to 1", mean, square)
	}
	if allocs := testing.AllocsPerRun(5, func() { e.Reward(r, obs, act, rows) }); allocs > 0 {
		t.Errorf("%v allocations by batch", allocs)
	}
	if a, b := ensemble(t, 3, d, all).Sums(w.clip()), ensemble(t, 3, idrl.Dataset{}, nil).Sums(w.clip()); len(a) != 3 || !slices.Equal(b, []float64{0, 0, 0}) {
		t.Errorf("sums %v, and %v without answers", a, b)
	}
	if _, err := neural.TrainEnsemble(t.Context(), members, 2, d, all, rng.New(1, "ensemble", 0)); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("going on from an ensemble of another size: %v", err)
	}
}

// flat returns the steps that were shown in d.
func flat(d idrl.Dataset) (obs, act []float32) {
	for _, shown := range d.Shown {
		for _, s := range shown {
			obs, act = append(obs, slices.Concat(s.Obs[:s.Len()]...)...), append(act, slices.Concat(s.Actions...)...)
		}
	}
	return obs, act
}
