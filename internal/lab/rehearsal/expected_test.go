package rehearsal

import (
	"context"
	"math"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
)

// The interval holds one more value in 95 of 100 cases.
func TestExpectHolds(t *testing.T) {
	r := rng.New(1, "expect", 0)
	const trials, n = 4000, 5
	within := 0
	for range trials {
		values := make([]float64, n)
		for i := range values {
			values[i] = 100 + 10*r.NormFloat64()
		}
		if e, next := Expect(values), 100+10*r.NormFloat64(); e.Low <= next && next <= e.High {
			within++
		}
	}
	// Five standard deviations of the share of 4000 trials.
	if share := float64(within) / trials; math.Abs(share-0.95) > 5*math.Sqrt(0.95*0.05/trials) {
		t.Errorf("the interval holds in %.3f of the cases, want 0.95", share)
	}
	if e := Expect([]float64{7}); e.Mean != 7 || !math.IsInf(e.High, 1) {
		t.Errorf("of one value: %+v", e)
	}
}

// skips is a clock that skips a share of the time.
type skips struct{ share float64 }

func (s skips) Wait(ctx context.Context, d time.Duration) error {
	return RealTime{}.Wait(ctx, time.Duration((1-s.share)*float64(d)))
}

// A stopwatch counts the time that is skipped.
func TestStopwatchCountsWhatIsSkipped(t *testing.T) {
	for _, share := range []float64{0, 0.5, 1} {
		start := time.Now()
		s := Stopwatch{Clock: skips{share}}
		for range 4 {
			must.Do(t, s.Wait(t.Context(), 10*time.Millisecond))
		}
		// What was waited for is counted once, and the machine's own time besides.
		if least, most := 40*time.Millisecond, 40*time.Millisecond+time.Since(start); s.Taken() < least || s.Taken() > most {
			t.Errorf("with %.1f skipped it took %v, want %v to %v", share, s.Taken(), least, most)
		}
	}
}
