package rehearsed_test

import (
	"bytes"
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/rehearsed"
)

// row has ten runs whose regrets after n answers are (run+1)/100 · (1 − n/100).
func row() rehearsed.Row {
	r := rehearsed.Row{Env: "driver", Kind: idrl.CompareClips, Right: 0.8, Answers: []int{10, 50}}
	for run := range 10 {
		v := float64(run+1) / 100
		r.Regret = append(r.Regret, []float64{v * 0.9, v * 0.5})
	}
	return r
}

// Between two numbers of answers a known straight line is followed; the interval has the k-th
// smallest and the k-th largest run, k = ⌊11/10⌋.
func TestAt(t *testing.T) {
	for _, test := range []struct {
		n                 int
		ok                bool
		median, low, high float64
	}{
		{9, false, 0, 0, 0},
		{10, true, 0.055 * 0.9, 0.01 * 0.9, 0.1 * 0.9},
		{30, true, 0.055 * 0.7, 0.01 * 0.7, 0.1 * 0.7},
		{50, true, 0.055 * 0.5, 0.01 * 0.5, 0.1 * 0.5},
		{51, false, 0, 0, 0},
	} {
		got, ok := row().At(test.n)
		if ok != test.ok || math.Abs(got.Median-test.median)+math.Abs(got.Low-test.low)+math.Abs(got.High-test.high) > 1e-12 {
			t.Errorf("after %d answers: %v %v, want %+v", test.n, got, ok, test)
		}
	}
	r := row()
	r.Regret = append(r.Regret, r.Regret...) // 20 runs: the second of each end
	if got, _ := r.At(10); math.Abs(got.Low-0.01*0.9)+math.Abs(got.High-0.1*0.9) > 1e-12 {
		t.Errorf("20 runs: %v", got)
	}
	r.Regret = r.Regret[:19] // without one of the largest: k = 2
	if got, _ := r.At(10); math.Abs(got.Low-0.01*0.9)+math.Abs(got.High-0.09*0.9) > 1e-12 {
		t.Errorf("19 runs: %v", got)
	}
}

// What is written is read again; what could not be stated of is refused.
func TestRead(t *testing.T) {
	var table rehearsed.Table
	second := row()
	second.Env = "chain"
	table.Put(row())
	table.Put(second)
	table.Put(second)
	b, err := table.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := rehearsed.Read(b)
	if err != nil || len(got.Rows) != 2 || got.Rows[0].Env != "chain" || got.Rows[1].Runs() != 10 || got.Rows[1].Most() != 50 {
		t.Errorf("%+v, %v", got, err)
	}
	if again, _ := got.Encode(); !bytes.Equal(again, b) {
		t.Error("what was read is written otherwise")
	}
	for name, spoil := range map[string]func(*rehearsed.Row){
		"few runs":        func(r *rehearsed.Row) { r.Regret = r.Regret[:8] },
		"a missing value": func(r *rehearsed.Row) { r.Regret[3] = r.Regret[3][:1] },
		"a large regret":  func(r *rehearsed.Row) { r.Regret[3][0] = 1.5 },
		"disorder":        func(r *rehearsed.Row) { r.Answers = []int{50, 10} },
	} {
		bad := row()
		spoil(&bad)
		b := must.Get(rehearsed.Table{Rows: []rehearsed.Row{bad}}.Encode())(t)
		if _, err := rehearsed.Read(b); idrl.KindOf(err) != idrl.Invalid || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := got.Find("driver", idrl.RateClip); ok {
		t.Error("rehearsals of comparisons are taken for those of ratings")
	}
}

// The mean of a log-normal distribution with median 3 s and spread 0.6 is 3 e^0.18 = 3.59 s.
func TestSeconds(t *testing.T) {
	if a, b := rehearsed.SecondsOf(idrl.CompareClips), rehearsed.SecondsOf(idrl.GroupClips); a != 3.6 || b != 10.8 {
		t.Errorf("%v s a comparison, %v s a group", a, b)
	}
}

// The rehearsals that come with the program can be read, and say who was simulated.
func TestKept(t *testing.T) {
	for _, r := range rehearsed.Kept().Rows {
		if r.First < 72000 || r.Right != 0.8 || r.PaceS != 3 {
			t.Errorf("%s: seeds from %d, right %v, pace %v s", r.Env, r.First, r.Right, r.PaceS)
		}
	}
}
