package rng

import (
	"math"
	"testing"
)

func TestStreams(t *testing.T) {
	type key struct {
		seed    uint64
		purpose string
		n       uint64
	}
	base := key{1, "tie", 2}
	first := New(base.seed, base.purpose, base.n).Uint64()
	if again := New(base.seed, base.purpose, base.n).Uint64(); again != first {
		t.Errorf("equal arguments gave %d and %d", first, again)
	}
	for _, other := range []key{{2, "tie", 2}, {1, "side", 2}, {1, "tie", 3}, {2, "tie", 1}, {1, "", 2}} {
		if v := New(other.seed, other.purpose, other.n).Uint64(); v == first {
			t.Errorf("%v and %v gave the same number", base, other)
		}
	}
}

// Neighbouring streams are as good as one: their first draws are uniform and do
// not correlate.
func TestNeighboursAreIndependent(t *testing.T) {
	const n = 20000
	var sum, cross float64
	last := 0.5
	for i := range uint64(n) {
		v := New(7, "test", i).Float64() - 0.5
		sum += v
		cross += v * last
		last = v
	}
	if mean := sum / n; math.Abs(mean) > 4*math.Sqrt(1.0/12/n) { // four standard errors
		t.Errorf("mean of the first draws is off by %v", mean)
	}
	if corr := cross / n * 12; math.Abs(corr) > 4/math.Sqrt(n) {
		t.Errorf("correlation of neighbouring streams is %v", corr)
	}
}
