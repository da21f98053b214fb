package belief

import (
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/stat/distuv"
)

func rate(y float64) idrl.Answer { return idrl.Answer{Choice: idrl.Rated, Rating: y} }

// The ends of the scale have probability, what lies between density; together they
// are everything.
func TestRatingClipped(t *testing.T) {
	for _, test := range []struct{ noise, m, v float64 }{{0.05, 0, 0.3}, {0.05, 0.9, 0.01}, {0.4, -2.5, 1}, {1, 0.2, 9}} {
		c := RatingClipped{NoiseVar: test.noise}
		n := distuv.Normal{Sigma: math.Sqrt(test.noise)}
		var sum, info, bend float64
		for y, given := range map[float64]func(u float64) float64{
			1:    func(u float64) float64 { return n.Survival(1 - u) },
			-1:   func(u float64) float64 { return n.CDF(-1 - u) },
			0.35: func(u float64) float64 { return n.Prob(0.35 - u) },
		} {
			name := fmt.Sprintf("%+v y=%v", test, y)
			z, mean, variance := moments(given, test.m, test.v)
			logZ, d1, d2 := c.LogZ(rate(y), test.m, test.v)
			within(t, name+" Z", math.Exp(logZ), z, 1e-12)
			within(t, name+" mean", test.m+test.v*d1, mean, 1e-9*(1+math.Abs(mean)))
			within(t, name+" variance", test.v+test.v*test.v*d2, variance, 1e-9*test.v)
			if math.Abs(y) == 1 {
				sum, info, bend = sum+z, info+z*d1*d1, bend-z*d2
			}
		}
		over := func(f func(logZ, d1, d2 float64) float64) float64 {
			return integrate(func(y float64) float64 { return f(c.LogZ(rate(y), test.m, test.v)) }, -1, 1)
		}
		sum += over(func(logZ, _, _ float64) float64 { return math.Exp(logZ) })
		info += over(func(logZ, d1, _ float64) float64 { return math.Exp(logZ) * d1 * d1 })
		bend -= over(func(logZ, _, d2 float64) float64 { return math.Exp(logZ) * d2 })
		within(t, fmt.Sprintf("%+v sum of Z", test), sum, 1, 1e-12)
		within(t, fmt.Sprintf("%+v info", test), c.Info(test.m, test.v), info, 1e-10*info)
		within(t, fmt.Sprintf("%+v info by the second derivative", test), c.Info(test.m, test.v), bend, 1e-10*info)
		if c.Info(test.m, test.v) >= (Rating{test.noise}).Info(test.m, test.v) {
			t.Errorf("%+v: a scale that ends informs as well as one without end", test)
		}
	}
}
