package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Contrast is a difference of two shares that a study is to find: by a two-sided test of level Alpha, with probability Power.
type Contrast struct {
	From, To     float64 // shares, in (0, 1), which differ
	Alpha, Power float64 // in (0, 1), Power above Alpha
}

// z returns the quantiles of the normal distribution that the level and the power ask for.
func (c Contrast) z() (level, power float64) {
	return distuv.UnitNormal.Quantile(1 - c.Alpha/2), distuv.UnitNormal.Quantile(c.Power)
}

// Fixed returns how many trials are needed to find that a share is To, where From is known: the normal approximation
// (Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, 2003, equation 2.8 without correction).
func (c Contrast) Fixed() int {
	a, b := c.z()
	return trials(a*spread(c.From)+b*spread(c.To), c.To-c.From)
}

// Separate returns how many trials each of two samples needs (the same, equation 4.14).
func (c Contrast) Separate() int {
	a, b := c.z()
	mean := (c.From + c.To) / 2
	return trials(a*math.Sqrt2*spread(mean)+b*math.Hypot(spread(c.From), spread(c.To)), c.To-c.From)
}

// Paired returns how many trials are needed where both are tried in each, by McNemar's test, if they come out differently in the
// share apart of the trials (Connor 1987, Biometrics 43, equation 3). apart is at least the difference; Apart
// gives it where the two fail independently.
func (c Contrast) Paired(apart float64) int {
	a, b := c.z()
	d := c.To - c.From
	return trials(a*math.Sqrt(apart)+b*math.Sqrt(max(0, apart-d*d)), d)
}

// Apart returns in which share of trials two come out differently that fail independently.
func (c Contrast) Apart() float64 { return c.From*(1-c.To) + c.To*(1-c.From) }

// spread is the standard deviation of one trial.
func spread(p float64) float64 { return math.Sqrt(p * (1 - p)) }

// trials returns how many make the standard deviation of a mean small enough; up to rounding of a number that is whole.
func trials(z, d float64) int { return int(math.Ceil(z*z/(d*d) - 1e-9)) }

// Detectable returns the least share above from that n trials, in each of which both are tried and which fail independently, find by
// a test of level alpha with probability power; ok is false if none below 1 is found.
func Detectable(from float64, n int, alpha, power float64) (to float64, ok bool) {
	needs := func(to float64) int {
		c := Contrast{From: from, To: to, Alpha: alpha, Power: power}
		return c.Paired(c.Apart())
	}
	low, high := from, math.Nextafter(1, 0)
	if n < 1 || !(from > 0 && from < 1) || needs(high) > n {
		return 0, false
	}
	for range 60 {
		if mid := low + (high-low)/2; mid == from || needs(mid) > n {
			low = mid
		} else {
			high = mid
		}
	}
	return high, true
}
