package stats_test

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
)

// Numbers of trials that were computed by hand from the equations: 80 against 85 % at the level of 5 % with a power of 90 %.
func TestSamples(t *testing.T) {
	c := stats.Contrast{From: 0.8, To: 0.85, Alpha: 0.05, Power: 0.9}
	for name, test := range map[string]struct{ got, want int }{
		"fixed": {c.Fixed(), 617}, "separate": {c.Separate(), 1212}, "independent": {c.Paired(c.Apart()), 1215},
		"less apart": {c.Paired(0.1857), 777}, "as little as can be": {c.Paired(0.05), 206},
	} {
		if test.got != test.want {
			t.Errorf("%s: %d, want %d", name, test.got, test.want)
		}
	}
	down := stats.Contrast{From: 0.85, To: 0.8, Alpha: 0.05, Power: 0.9}
	if down.Separate() != c.Separate() || down.Paired(0.2) != c.Paired(0.2) {
		t.Error("the order of the shares matters where it does not")
	}
}

// With as many trials as are stated a difference is found as often as is stated, in simulations with that difference; without one the test
// says so in as many as its level allows.
func TestSamplesAreEnough(t *testing.T) {
	const runs = 20000
	for _, c := range []stats.Contrast{{0.8, 0.85, 0.05, 0.9}, {0.7, 0.8, 0.05, 0.8}, {0.9, 0.8, 0.01, 0.9}} {
		for _, apart := range []float64{c.Apart(), 0.7 * c.Apart()} {
			t.Run(fmt.Sprintf("%v to %v, %.2f apart", c.From, c.To, apart), func(t *testing.T) {
				n, stream := c.Paired(apart), rng.New(1, "samples", 0)
				found := func(d float64) float64 { // share of runs in which McNemar's test finds something
					hits := 0
					up := (apart + d) / 2
					for range runs {
						plus, minus := 0, 0
						for range n {
							if u := stream.Float64(); u < up {
								plus++
							} else if u < apart {
								minus++
							}
						}
						if z := math.Abs(float64(plus-minus)) / math.Sqrt(float64(max(1, plus+minus))); z > quantile(c.Alpha) {
							hits++
						}
					}
					return float64(hits) / runs
				}
				if power := found(c.To - c.From); math.Abs(power-c.Power) > 0.02 { // the equation is an approximation for many trials
					t.Errorf("%d trials find it in %.3f of the runs, want %v", n, power, c.Power)
				}
				if level := found(0); math.Abs(level-c.Alpha) > 0.007 {
					t.Errorf("where there is nothing %.3f of the runs find something, want %v", level, c.Alpha)
				}
			})
		}
	}
}

// quantile returns what a standard normal exceeds in either direction with probability alpha.
func quantile(alpha float64) float64 {
	return map[float64]float64{0.05: 1.959964, 0.01: 2.575829}[alpha]
}

// What can be detected needs as many trials as there are, and one percent less needs more.
func TestDetectable(t *testing.T) {
	for _, n := range []int{40, 100, 617, 5000} {
		to, ok := stats.Detectable(0.8, n, 0.05, 0.9)
		if n == 40 {
			if ok {
				t.Errorf("40 trials find %v", to)
			}
			continue
		}
		needs := func(to float64) int {
			c := stats.Contrast{From: 0.8, To: to, Alpha: 0.05, Power: 0.9}
			return c.Paired(c.Apart())
		}
		if !ok || needs(to) > n || needs(to-0.005) <= n {
			t.Errorf("%d trials: %v, which needs %d", n, to, needs(to))
		}
	}
	for _, from := range []float64{0, 1, math.NaN()} {
		if to, ok := stats.Detectable(from, 1000, 0.05, 0.9); ok {
			t.Errorf("from %v: %v", from, to)
		}
	}
}
