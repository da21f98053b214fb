package tally

import (
	"math"
	"sync/atomic"
)

// A Histogram counts observed values by size. Its methods may be called from any goroutine, and
// neither block nor allocate, but for Counts.
type Histogram struct {
	bounds []float64       // upper bounds of the buckets, ascending; a further bucket has no bound
	counts []atomic.Uint64 // of each bucket alone
	sum    atomic.Uint64   // bits of a float64
}

// New returns a Histogram whose buckets have these upper bounds, in ascending order.
func New(bounds ...float64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe counts a value. A value that equals a bound is below it.
func (h *Histogram) Observe(v float64) {
	k := 0
	for k < len(h.bounds) && v > h.bounds[k] {
		k++
	}
	h.counts[k].Add(1)
	for {
		old := h.sum.Load()
		if h.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+v)) {
			return
		}
	}
}

// Counts returns the number and the sum of all values, and how many are at most each bound. A value
// that is observed meanwhile may be in some of the three only.
func (h *Histogram) Counts() (n uint64, sum float64, upTo map[float64]uint64) {
	upTo = make(map[float64]uint64, len(h.bounds))
	for k, b := range h.bounds {
		n += h.counts[k].Load()
		upTo[b] = n
	}
	n += h.counts[len(h.bounds)].Load()
	return n, math.Float64frombits(h.sum.Load()), upTo
}
