package sac

import (
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// TestReplay fills a small ring many times over with states that are numbered, and holds
// that every transition drawn is one that happened, among the last ones, and all of
// those are drawn.
func TestReplay(t *testing.T) {
	const rows = 37
	h := shape{obs: 1, act: 1, phi: 1, width: 4}
	r := newReplay(h, rows)
	stream := rng.New(1, "replay", 0)
	type step struct {
		next float32
		kind uint8
	}
	happened := map[float32]step{} // by state
	state, steps := float32(0), 0
	for episode := range 60 {
		r.begin([]float32{state})
		length := 1 + stream.IntN(20)
		broken := episode%7 == 3
		for k := range length {
			if broken && k == length-1 {
				break // the last state is forgotten
			}
			kind, stored := idrl.Mid, transition
			if k == length-1 {
				if kind = idrl.Truncated; episode%2 == 0 {
					kind, stored = idrl.Terminated, final
				}
			}
			r.add([]float32{-state}, 10*state, []float32{100 * state}, []float32{state + 1}, kind)
			happened[state] = step{state + 1, stored}
			state++
			steps++
		}
		state++
		if r.valid == 0 {
			continue
		}
		seen := map[float32]bool{}
		for range 40 * rows {
			i := r.draw(stream)
			row := r.row(i)
			s := row[0]
			seen[s] = true
			want, ok := happened[s]
			if next := r.row(r.next(i))[0]; !ok || next != want.next || r.kind[i] != want.kind {
				t.Fatalf("episode %d: from %v to %v (kind %d), want to %v (kind %d)", episode, s, next, r.kind[i], want.next, want.kind)
			}
			if !slices.Equal(row, []float32{s, -s, 10 * s, 100 * s}) {
				t.Fatalf("row %v", row)
			}
		}
		if len(seen) != r.valid {
			t.Fatalf("episode %d: %d transitions are drawn, %d are there", episode, len(seen), r.valid)
		}
	}
	if steps < 10*rows {
		t.Fatalf("%d steps are too few for this test", steps)
	}
}

// TestRelabel gives a replay of several chunks another reward.
func TestRelabel(t *testing.T) {
	h := shape{obs: 2, time: 1, act: 1, phi: 1, width: 6}
	r := newReplay(h, 5000)
	scale := newScaler(idrl.ActionSpec{Low: []float64{0}, High: []float64{4}})
	for e := range 40 {
		r.begin([]float32{float32(e), 0, 1})
		for k := range 99 {
			kind := idrl.Mid
			if k == 98 {
				kind = idrl.Truncated
			}
			r.add([]float32{0.5}, -1, []float32{7}, []float32{float32(e), float32(k + 1), 0.5}, kind)
		}
	}
	l := newLabeller(h, scale)
	rows := 0
	m, err := r.relabel(func(dst []float32, b Batch) {
		rows += b.N
		for i := range dst {
			dst[i] = b.Obs[2*i]*1000 + b.Obs[2*i+1]*10 + b.Act[i] + 0.01*b.Phi[i]
		}
	}, l)
	if err != nil || rows != 40*99 || m.Count != 40*99 || r.valid != 40*99 {
		t.Fatalf("relabelled %d rows, %v transitions, %v", rows, m.Count, err)
	}
	for i := range r.used {
		row := r.row(i)
		if want := row[0]*1000 + row[1]*10 + 3 + 0.01*7; r.kind[i] != open && row[4] != want {
			t.Fatalf("row %d: reward %v, want %v", i, row[4], want)
		}
	}
}

func TestMoments(t *testing.T) {
	var m moments
	if shift, factor := m.scale(); shift != 0 || factor != 1 {
		t.Errorf("without rewards: %v, %v", shift, factor)
	}
	for _, v := range []float64{1, 3, 5, 7} { // mean 4, variance 5
		m.add(v)
	}
	if shift, factor := m.scale(); shift != 4 || factor*factor < 0.19999 || factor*factor > 0.20001 {
		t.Errorf("scale = %v, %v, want 4, 1/√5", shift, factor)
	}
}
