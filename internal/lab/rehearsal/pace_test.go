package rehearsal

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/base/rng"
)

// The logarithm of a response time is normal: half of the times are below the median
// and 84.13 of 100 below median·exp(0.6), with a standard deviation of 0.0035.
func TestResponseTimes(t *testing.T) {
	const n, median = 20_000, 3 * time.Second
	stream, below, within := rng.New(1, "times", 0), 0.0, 0.0
	for range n {
		d := responseTime(median, stream)
		if d < median {
			below++
		}
		if d < time.Duration(float64(median)*math.Exp(0.6)) {
			within++
		}
	}
	if !(math.Abs(below/n-0.5) < 0.018) || !(math.Abs(within/n-0.8413) < 0.018) {
		t.Errorf("%.4f below the median and %.4f below exp(0.6) times it, want 0.5 and 0.8413", below/n, within/n)
	}
}

func TestSkipIdlePassesTimeOnlyWhileTraining(t *testing.T) {
	for _, test := range []struct {
		name   string
		awaits bool
		trains time.Duration // from the start of the wait
		want   time.Duration // of a wait of 3 s
	}{
		{"idle", false, 0, 0},
		{"training ends first", false, time.Second, time.Second},
		{"training goes on", false, time.Minute, 3 * time.Second},
		{"idle, awaited", true, 0, 0},
		{"training goes on, awaited", true, time.Minute, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				c := SkipIdle{
					Awaits:   test.awaits,
					Training: func(context.Context) (bool, error) { return time.Since(began) < test.trains, nil },
					Changes: func(notify func()) func() {
						timer := time.AfterFunc(test.trains, notify)
						return func() { timer.Stop() }
					},
				}
				if err := c.Wait(t.Context(), 3*time.Second); err != nil || time.Since(began) != test.want {
					t.Errorf("waited %v, %v; want %v", time.Since(began), err, test.want)
				}
			})
		})
	}
	broken := errors.New("the session has stopped")
	c := SkipIdle{
		Training: func(context.Context) (bool, error) { return false, broken },
		Changes:  func(func()) func() { return func() {} },
	}
	if err := c.Wait(t.Context(), time.Hour); !errors.Is(err, broken) {
		t.Errorf("error = %v", err)
	}
}

// A response time begins when the question is there and the last answer acknowledged,
// so that a comparison with the truth between the two does not add to it.
func TestThinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Annotator{cfg: Config{Pause: time.Second, Clock: RealTime{}}}
		began := time.Now()
		for i, busy := range []time.Duration{0, 300 * time.Millisecond, 2 * time.Second} {
			r.ready = time.Now()
			time.Sleep(busy)
			shown, err := r.think(t.Context(), 1, rng.New(1, "times", 0))
			if want := max(busy, time.Second); err != nil || time.Since(r.ready) != want || !shown.Equal(r.ready) {
				t.Errorf("%d: answered after %v, shown %v after, %v; want %v", i, time.Since(r.ready), shown.Sub(began), err, want)
			}
		}
	})
}
