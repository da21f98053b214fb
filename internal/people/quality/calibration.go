package quality

import "math"

// calibrationBins is the number of bins of equal width that ECE is computed with.
const calibrationBins = 10

// A Calibration compares predictions of answers, each made before the answer, with the answers. The
// zero value has none.
type Calibration struct {
	n            int
	loss, square float64 // sums
	bins         [calibrationBins]struct{ n, sure, right float64 }
}

// leastPredicted is the least probability that LogLoss counts, so that one surprise does not make
// it infinite.
const leastPredicted = 1e-9

// Add adds an answer: p[k] is the predicted probability of outcome k, and actual the outcome. The
// probabilities of all outcomes, of which there are two or more, add up to one. It panics if there
// is no outcome actual, or if a probability is not in [0, 1] up to rounding.
func (c *Calibration) Add(p []float64, actual int) {
	if actual < 0 || actual >= len(p) {
		panic("quality: an outcome that was not predicted")
	}
	top := 0
	for k, v := range p {
		if !(v >= -1e-9 && v <= 1+1e-9) { // so that NaN fails
			panic("quality: a probability is out of range")
		}
		if v > p[top] {
			top = k
		}
		e := v
		if k == actual {
			e = 1 - v
		}
		c.square += e * e
	}
	c.n++
	c.loss -= math.Log(max(leastPredicted, p[actual]))
	bin := &c.bins[max(0, min(calibrationBins-1, int(p[top]*calibrationBins)))]
	bin.n++
	bin.sure += p[top]
	if top == actual {
		bin.right++
	}
}

// Len returns the number of answers.
func (c *Calibration) Len() int { return c.n }

// LogLoss returns the mean of −log p of the answers, in nats: 0 if every answer was certain, log 2
// for predictions of ½. It is 0 before the first answer, as are all.
func (c *Calibration) LogLoss() float64 { return c.loss / float64(max(1, c.n)) }

// Brier returns the mean of Σ_k (p_k − 1{k was answered})², from 0 to 2. Source: Brier,
// "Verification of forecasts expressed in terms of probability", 1950.
func (c *Calibration) Brier() float64 { return c.square / float64(max(1, c.n)) }

// ECE returns the expected calibration error: the mean, over answers, of how far the share
// of right predictions lies from the mean probability of the predicted outcome, in ten bins
// of that probability. Source: Guo et al., "On calibration of modern neural networks", ICML
// 2017, equation 3.
func (c *Calibration) ECE() float64 {
	sum := 0.0
	for _, b := range c.bins {
		sum += math.Abs(b.sure-b.right) / float64(max(1, c.n))
	}
	return sum
}

// Right returns the share of answers that were the most probable outcome.
func (c *Calibration) Right() float64 {
	sum := 0.0
	for _, b := range c.bins {
		sum += b.right
	}
	return sum / float64(max(1, c.n))
}
