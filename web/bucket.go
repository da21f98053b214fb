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

// spend takes n tokens at time now, also more than there are, but leaves a debt of at most debt.
func (b *bucket) spend(n, debt float64, now time.Time) {
	b.fill(now)
	b.tokens = max(b.tokens-n, -debt)
}

// until returns how long it takes from now until the bucket holds n tokens.
func (b *bucket) until(n float64, now time.Time) time.Duration {
	b.fill(now)
	return time.Duration(max(0, (n-b.tokens)/b.rate) * float64(time.Second))
}
