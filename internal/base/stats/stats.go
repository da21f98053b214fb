package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Quantiles of the standard normal distribution: an interval of so many standard deviations to
// either side holds 95 and 99.9 % of it.
const (
	Z95  = 1.959963984540054
	Z999 = 3.290526731491895
)

// Wilson returns the interval of a binomial share with k successes out of n whose score is at
// most z; it is (0, 1) if n is 0. k need not be whole: what is half a success counts as one half.
// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
// JASA 22 (1927):
//
//	(p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)
func Wilson(k float64, n int, z float64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	m := float64(n)
	p := k / m
	centre := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	scale := 1 + z*z/m
	return max(0, (centre-half)/scale), min(1, (centre+half)/scale)
}

// Middle95 returns the 0.025 and the 0.975 quantile of v, which it sorts: of a statistic of
// resamples, the percentile interval of 95 %. v must not be empty.
func Middle95(v []float64) (low, high float64) {
	slices.Sort(v)
	return stat.Quantile(0.025, stat.Empirical, v, nil), stat.Quantile(0.975, stat.Empirical, v, nil)
}

// Resample returns a statistic of n things, which are given by their indexes, over draws of n of
// them with replacement: the bootstrap. Draws in which it is NaN are left out. of is reused
// between draws.
func Resample(n, draws int, stream *rand.Rand, statistic func(of []int) float64) (values []float64) {
	of := make([]int, n)
	for range draws {
		for i := range of {
			of[i] = stream.IntN(n)
		}
		if v := statistic(of); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// MeanOf returns the mean of the values of v at the indexes in of, of which there must be one.
func MeanOf(v []float64, of []int) float64 {
	sum := 0.0
	for _, i := range of {
		sum += v[i]
	}
	return sum / float64(len(of))
}

// Median returns the median of v, the mean of the two in the middle if their number is even, and
// 0 if there are none. It leaves v as it is.
func Median[T ~int64 | ~float64](v []T) float64 {
	n := len(v)
	if n == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return float64(s[(n-1)/2]+s[n/2]) / 2
}

// Percent writes a probability, which is never 0 % or 100 % of what is not sure.
func Percent(p float64) string {
	switch {
	case p >= 0.995 && p < 1:
		return "> 99 %"
	case p > 0 && p <= 0.005:
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*p)
}
