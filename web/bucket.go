package web

import "time"

// A bucket limits a rate: it holds up to burst tokens and gains rate a second.
// One goroutine uses it at a time.
type bucket struct {
	rate, burst, tokens float64
	last                time.Time
}

func newBucket(rate, burst float64) bucket { return bucket{rate: rate, burst: burst, tokens: burst} }

// take takes n tokens at time now and reports whether there were enough. A negative n puts tokens
// back, even beyond burst.
func (b *bucket) take(n float64, now time.Time) bool {
	b.fill(now)
	if b.tokens < n {
		return false
	}
	b.tokens -= n
	return true
}

// full reports whether the bucket is full at time now.
func (b *bucket) full(now time.Time) bool {
	b.fill(now)
	return b.tokens >= b.burst
}

func (b *bucket) fill(now time.Time) {
	if !b.last.IsZero() {
		b.tokens = max(b.tokens, min(b.burst, b.tokens+b.rate*now.Sub(b.last).Seconds()))
	}
	b.last = now
}
