package tally

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Values are counted once, at or below their bound, from any number of goroutines.
func TestHistogram(t *testing.T) {
	h := New(1, 2, 5)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				for _, v := range []float64{0.5, 1, 1.5, 2, 3, 100} {
					h.Observe(v)
				}
			}
		})
	}
	all.Wait()
	n, sum, upTo := h.Counts()
	if want := map[float64]uint64{1: 1600, 2: 3200, 5: 4000}; n != 4800 || sum != 86400 || !cmp.Equal(want, upTo) {
		t.Errorf("%d values with the sum %v, %v; want 4800, 86400, %v", n, sum, upTo, want)
	}
}
