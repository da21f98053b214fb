package stats_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
)

func TestWilson(t *testing.T) {
	for _, test := range []struct {
		name      string
		k, n      int
		low, high float64
	}{
		{"nothing known", 0, 0, 0, 1},
		// Newcombe, "Two-sided confidence intervals for the single proportion",
		// Statistics in Medicine 17 (1998), table I, method 3.
		{"81 of 263", 81, 263, 0.2553, 0.3662},
		{"15 of 148", 15, 148, 0.0624, 0.1605},
		{"none of 20", 0, 20, 0, 0.1611},
		{"1 of 29", 1, 29, 0.0061, 0.1718},
	} {
		t.Run(test.name, func(t *testing.T) {
			low, high := stats.Wilson(float64(test.k), test.n, stats.Z95)
			if math.Abs(low-test.low) > 5e-5 || math.Abs(high-test.high) > 5e-5 {
				t.Errorf("interval = (%.4f, %.4f), want (%v, %v)", low, high, test.low, test.high)
			}
		})
	}
}

func TestWilsonMirrors(t *testing.T) {
	for n := 1; n < 40; n++ {
		for k := 0; k <= n; k++ {
			low, high := stats.Wilson(float64(k), n, stats.Z95)
			otherLow, otherHigh := stats.Wilson(float64(n-k), n, stats.Z95)
			if math.Abs(low-(1-otherHigh)) > 1e-12 || math.Abs(high-(1-otherLow)) > 1e-12 {
				t.Fatalf("%d of %d: (%v, %v) does not mirror (%v, %v)", k, n, low, high, otherLow, otherHigh)
			}
			if p := float64(k) / float64(n); !(low <= p+1e-12 && p <= high+1e-12) {
				t.Fatalf("%d of %d: (%v, %v) does not hold the share", k, n, low, high)
			}
		}
	}
}

func TestMedian(t *testing.T) {
	v := []float64{6, 1, 3, 2}
	if got := stats.Median(v); got != 2.5 || !slices.Equal(v, []float64{6, 1, 3, 2}) {
		t.Errorf("median %v of %v", got, v)
	}
	if got := stats.Median([]int64{6, 1, 3}); got != 3 {
		t.Errorf("median %v of three, want 3", got)
	}
	if got := stats.Median([]int64(nil)); got != 0 {
		t.Errorf("median %v of nothing, want 0", got)
	}
}

func TestResample(t *testing.T) {
	v := []float64{1, 2, math.NaN(), 5}
	stream, again := rng.New(1, "test", 0), rng.New(1, "test", 0)
	got := stats.Resample(len(v), 500, stream, func(of []int) float64 { return stats.MeanOf(v, of) })
	var want []float64
	for range 500 {
		sum := 0.0
		for range v {
			sum += v[again.IntN(len(v))]
		}
		if !math.IsNaN(sum) {
			want = append(want, sum/4)
		}
	}
	if !slices.Equal(got, want) || len(got) == 500 || len(got) == 0 {
		t.Errorf("%d means of draws, want %d that are no NaN, in the order of the draws", len(got), len(want))
	}
}

func TestMiddle95(t *testing.T) {
	v := make([]float64, 1000)
	for i := range v {
		v[i] = float64((i*7)%1000 + 1) // 1 to 1000, mixed
	}
	if low, high := stats.Middle95(v); low != 25 || high != 975 {
		t.Errorf("(%v, %v), want (25, 975)", low, high)
	}
}

func TestPercent(t *testing.T) {
	for p, want := range map[float64]string{0: "0 %", 0.004: "< 1 %", 0.005: "< 1 %", 0.006: "1 %", 0.5: "50 %", 0.994: "99 %", 0.995: "> 99 %", 1: "100 %"} {
		if got := stats.Percent(p); got != want {
			t.Errorf("%v is written %q, want %q", p, got, want)
		}
	}
}
