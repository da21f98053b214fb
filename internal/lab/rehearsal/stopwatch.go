package rehearsal

import (
	"context"
	"time"
)

// A Stopwatch is a clock that knows how long the answers of one annotator took, from their
// first question on: as long as they would have taken in real time where another clock
// skips time.
type Stopwatch struct {
	Clock Clock // that passes the time; required

	start    time.Time
	skipped  time.Duration
	excluded time.Duration
	taken    time.Duration
}

// Exclude leaves out time that passed for something that people do not wait for.
func (s *Stopwatch) Exclude(d time.Duration) { s.excluded += d }

// Wait implements Clock.
func (s *Stopwatch) Wait(ctx context.Context, d time.Duration) error {
	began := time.Now()
	if s.start.IsZero() {
		s.start = began
	}
	err := s.Clock.Wait(ctx, d)
	now := time.Now()
	s.skipped += max(0, d-now.Sub(began))
	s.taken = now.Sub(s.start) + s.skipped - s.excluded
	return err
}

// Taken returns the time from the first question until the last answer was given. It may be called when
// the annotator has finished.
func (s *Stopwatch) Taken() time.Duration { return s.taken }
