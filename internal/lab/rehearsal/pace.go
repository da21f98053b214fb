package rehearsal

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// paceSpread is the standard deviation of the logarithm of a response time: 95 of 100
// lie between 0.31 and 3.2 times the median.
const paceSpread = 0.6

// responseTime draws a log-normal response time with the given median.
func responseTime(median time.Duration, stream *rand.Rand) time.Duration {
	return time.Duration(float64(median) * math.Exp(paceSpread*stream.NormFloat64()))
}

// A Clock passes the time that an annotator takes to answer.
type Clock interface {
	// Wait returns when d has passed on the clock, or ctx.Err() if ctx is done
	// before.
	Wait(ctx context.Context, d time.Duration) error
}

// RealTime is the clock of the world.
type RealTime struct{}

// Wait implements Clock.
func (RealTime) Wait(ctx context.Context, d time.Duration) error { return pause(ctx, d) }

// SkipIdle is a clock that passes at once while the session trains nothing, and like
// the clock of the world while it does. A session with one annotator changes by
// answers and trainings alone, so that each generation arrives between the same two
// answers as in real time, if the machine is as fast: what is skipped is time in which
// nothing happens.
type SkipIdle struct {
	// Training reports whether the session is training, as of all answers that were
	// acknowledged before the call.
	Training func(ctx context.Context) (bool, error)

	// Awaits has each response time last until the session trains nothing, as where every training takes less time than an answer, and
	// each comparison with the truth wait as long: then at which generation they come hardly depends on the machine.
	Awaits bool

	// Changes calls notify whenever that may have changed, until stop is called.
	// notify does not block.
	Changes func(notify func()) (stop func())
}

// Wait implements Clock.
func (c SkipIdle) Wait(ctx context.Context, d time.Duration) error {
	changed := make(chan struct{}, 1)
	stop := c.Changes(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	var over <-chan time.Time // never, if it awaits
	if !c.Awaits {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	for {
		if training, err := c.Training(ctx); err != nil || !training {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over:
			return nil
		case <-changed:
		}
	}
}
