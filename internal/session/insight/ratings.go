package insight

import (
	"math"

	"tiebreak/internal/base/stats"

	"gonum.org/v1/gonum/stat/distuv"
)

// A RatingCalibration compares what was predicted of ratings with what they were. Where the
// predictions are right the transforms (RatingForecast.PIT) are independent and uniform on
// [0, 1]. Source: Dawid, "Present position and potential developments: some personal views.
// Statistical theory: the prequential approach", 1984; Gneiting, Balabdaoui and Raftery,
// "Probabilistic forecasts, calibration and sharpness", 2007.
type RatingCalibration struct {
	N    int
	Bins [bins]int // numbers of transforms in [k/10, (k+1)/10), the last bin with its end

	// Band holds the number of any one bin with a probability of 95 % at least where the
	// predictions are right: 2.5 and 97.5 % quantiles of the binomial distribution.
	Band [2]int

	// Uneven is Pearson's χ² of the numbers, Σ (n_k − N/10)²/(N/10), and Limit what it is at most
	// with a probability of 95 % where the predictions are right.
	Uneven, Limit float64

	Half, Most Coverage // of the predicted intervals of 50 % and 90 %, with equal tails

	// Error is the mean of the ratings less what was predicted on average, with its 95 %
	// interval, whose ends are NaN where N is below leastRange; Spread is the root of the mean square of these differences.
	Error      float64
	ErrorRange [2]float64
	Spread     float64
}

// A Coverage is how many of N answers lay within their predicted intervals, with the 95 %
// interval (Wilson) of the share. Of a rating at the end of the scale, where the predicted
// distribution has a step, the drawn transform decides.
type Coverage struct {
	In       int
	Share    float64
	From, To float64
}

// leastUneven is the number of ratings from which Uneven is compared with its limit: the
// distribution of χ² is that of its limit nearly from one a bin on (Koehler and Larntz, "An
// empirical investigation of goodness-of-fit statistics for sparse multinomials", 1980).
const leastUneven = 2 * bins

// CalibrateRatings compares predictions with ratings. It is a function of its argument.
func CalibrateRatings(all []RatingForecast) (c RatingCalibration) {
	if c.N = len(all); c.N == 0 {
		return c
	}
	n, sum, squares := float64(len(all)), 0.0, 0.0
	for _, one := range all {
		c.Bins[binOf(one.PIT)]++
		far := math.Abs(one.PIT - 0.5)
		if far <= 0.25 {
			c.Half.In++
		}
		if far <= 0.45 {
			c.Most.In++
		}
		e := one.Rating - one.Mean
		sum, squares = sum+e, squares+e*e
	}
	for _, k := range c.Bins {
		d := float64(k) - n/bins
		c.Uneven += d * d / (n / bins)
	}
	c.Limit = distuv.ChiSquared{K: bins - 1}.Quantile(0.95)
	c.Band = [2]int{binomialQuantile(c.N, 1.0/bins, 0.025), binomialQuantile(c.N, 1.0/bins, 0.975)}
	c.Half.finish(c.N)
	c.Most.finish(c.N)
	c.Error, c.Spread = sum/n, math.Sqrt(squares/n)
	half := halfRange(c.N, c.Error, squares)
	c.ErrorRange = [2]float64{c.Error - half, c.Error + half}
	return c
}

// Beyond reports whether the transforms are less even than chance explains.
func (c RatingCalibration) Beyond() bool { return c.N >= leastUneven && c.Uneven > c.Limit }

func (c *Coverage) finish(n int) {
	c.Share = float64(c.In) / float64(n)
	c.From, c.To = stats.Wilson(float64(c.In), n, stats.Z95)
}

// binomialQuantile returns the least k with P(K ≤ k) ≥ q, of n trials that succeed with
// probability p.
func binomialQuantile(n int, p, q float64) int {
	b := distuv.Binomial{N: float64(n), P: p}
	low, high := -1, n // P(K ≤ low) < q ≤ P(K ≤ high)
	for high-low > 1 {
		if middle := (low + high) / 2; b.CDF(float64(middle)) >= q {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
