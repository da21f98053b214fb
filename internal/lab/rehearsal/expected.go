package rehearsal

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// An Interval is what is expected of one study like those that were rehearsed: the mean of
// the rehearsals, and the limits between which one more falls with 95 %, if they are
// normally distributed.
type Interval struct{ Mean, Low, High float64 }

// Expect returns what one more value beside values is expected to be: m ± t s √(1 + 1/n),
// with the mean m and the standard deviation s of the n values, and t the 97.5 % quantile of
// Student's distribution with n − 1 degrees of freedom. Low is at least 0. Of one value
// nothing is known: Low is 0 and High is infinite.
func Expect(values []float64) Interval {
	n := float64(len(values))
	if n == 0 {
		return Interval{math.NaN(), 0, math.Inf(1)}
	}
	if n == 1 {
		return Interval{values[0], 0, math.Inf(1)}
	}
	mean, std := stat.MeanStdDev(values, nil)
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * std * math.Sqrt(1+1/n)
	return Interval{mean, max(0, mean-half), mean + half}
}
