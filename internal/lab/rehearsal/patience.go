package rehearsal

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// Pauses before something is tried again, doubled from the first to the last.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 10 * time.Second
)

// A patience says when to try again what failed, and when to give up.
type patience struct {
	limit time.Duration // of failing without a success between
	out   io.Writer     // hears of every attempt

	since time.Time // of the first failure; zero after a success
	next  time.Duration
}

// failed waits for a while that gets longer with every failure, least at least. It
// returns an error if the limit is reached or ctx is done.
func (p *patience) failed(ctx context.Context, least time.Duration, err error) error {
	if p.since.IsZero() {
		p.since, p.next = time.Now(), firstPause
	}
	left := p.limit - time.Since(p.since)
	if left <= 0 {
		return fmt.Errorf("gave up after %v: %w", p.limit, err)
	}
	wait := min(max(p.next, least), left)
	p.next = min(2*p.next, lastPause)
	fmt.Fprintf(p.out, "Waiting: %s. Trying again in %v, for up to %v.\n", strings.TrimSuffix(err.Error(), "."), wait.Round(time.Millisecond), left.Round(time.Second))
	return pause(ctx, wait)
}

// succeeded begins anew.
func (p *patience) succeeded() {
	if !p.since.IsZero() {
		fmt.Fprintf(p.out, "It goes on after %v.\n", time.Since(p.since).Round(time.Second/10))
	}
	p.since = time.Time{}
}

// pause waits for d, or returns ctx.Err() if ctx is done before.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
