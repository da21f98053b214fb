package insight

import (
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Bin holds the answers whose most probable outcome had a probability in [Low, High), the
// last bin [Low, High].
type Bin struct {
	Low, High float64
	N         int     // answers
	Right     int     // of these, the most probable outcome
	Predicted float64 // mean probability of that outcome; 0 where N is 0
	Share     float64 // Right/N, with its 95 % interval (Wilson)
	From, To  float64
}

// A Calibration compares what was predicted of answers with what they were.
type Calibration struct {
	N     int
	Bins  [bins]Bin
	Right float64 // share of answers that were the most probable outcome

	ECE float64 // expected calibration error, by Bins

	// ByChance is the interval that holds ECE with probability 95 % where every answer comes
	// with the probability that was predicted of it. ECE is never 0 with few answers.
	ByChance [2]float64

	// Brier is the mean of Σ_k (p_k − 1{k was answered})², with its 95 % interval; the ends are
	// NaN where N is below leastRange.
	Brier      float64
	BrierRange [2]float64
	LogLoss    float64 // mean of −log p of the answer, nats

	BlindBrier, BlindLoss float64 // the same of one who knows nothing of the clips (Blind)
}

// A Blind returns the prediction of one who knows nothing of the clips, for an answer whose prediction was p.
type Blind func(p []float64) []float64

// EvenClips is the Blind of which clip is picked: each is as probable.
func EvenClips(p []float64) []float64 {
	out := make([]float64, len(p))
	for k := range out {
		out[k] = 1 / float64(len(p))
	}
	return out
}

// EvenSides is the Blind of answers to a comparison, in the order of idrl.Outcomes: that people
// say 'equal' is as probable as was predicted, and each clip as probable as the other. Predictions
// that are right have a lower log loss on average, or the same where they say so of all questions.
func EvenSides(p []float64) []float64 {
	out := slices.Clone(p)
	equal := slices.Index(outcomes[:], idrl.Equal)
	for k := range out {
		if k != equal {
			out[k] = (1 - p[equal]) / float64(len(p)-1)
		}
	}
	return out
}

var outcomes = idrl.Outcomes()

// leastRange is the number of answers from which the interval of a mean is stated. That of fewer
// would hold the mean far less often than it says: always none of it of one answer.
const leastRange = 5

// bins is the number of bins, of equal width.
const bins = 10

// simulated is how many sets of answers ByChance is computed from. The number of answers of a
// bin that come true is drawn answer by answer where its variance is at most wide, and there
// are at most many of them; else from a normal distribution, which it hardly differs from then.
const (
	simulated = 400
	wide      = 10
	many      = 2000
)

// Calibrate compares predictions with answers, and with those of one who knows nothing. It is a
// function of its arguments: the seed is that of what ByChance is simulated with.
func Calibrate(all []Forecast, nothing Blind, seed uint64) Calibration {
	var c Calibration
	for i := range c.Bins {
		c.Bins[i].Low, c.Bins[i].High = float64(i)/bins, float64(i+1)/bins
	}
	if c.N = len(all); c.N == 0 {
		return c
	}
	var sum, blind quality.Calibration
	squares := 0.0 // of the Brier scores
	for _, one := range all {
		top, p := one.top()
		b := &c.Bins[binOf(p)]
		b.N++
		b.Predicted += p
		if top == one.Actual {
			b.Right++
		}
		brier := one.brier()
		squares += brier * brier
		sum.Add(one.P, one.Actual)
		blind.Add(nothing(one.P), one.Actual)
	}
	for i := range c.Bins {
		c.Bins[i].finish()
	}
	c.Right, c.ECE, c.Brier, c.LogLoss = sum.Right(), sum.ECE(), sum.Brier(), sum.LogLoss()
	c.BlindBrier, c.BlindLoss = blind.Brier(), blind.LogLoss()
	half := halfRange(c.N, c.Brier, squares)
	c.BrierRange = [2]float64{max(0, c.Brier-half), min(2, c.Brier+half)}
	c.ByChance = chance(all, rng.New(seed, "calibration", 0))
	return c
}

// halfRange returns half the width of the 95 % interval of a mean of n numbers with that sum of
// squares, by Student's t; NaN of fewer than leastRange.
func halfRange(n int, mean, squares float64) float64 {
	if n < leastRange {
		return math.NaN()
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
	return t * math.Sqrt(max(0, squares/float64(n)-mean*mean)/float64(n-1))
}

// Beyond reports whether the error is greater than chance explains.
func (c Calibration) Beyond() bool { return c.ECE > c.ByChance[1] }

// leastUseless is the number of answers from which Useless is told.
const leastUseless = 20

// Useless reports whether the predictions were no better than those of one who knows nothing: the
// log loss is not lower. Predictions that are right have less on average. People who answer at
// random are seen by it also where the posterior has come to expect little of any question, so
// that it is calibrated.
func (c Calibration) Useless() bool { return c.N >= leastUseless && c.LogLoss >= c.BlindLoss }

// top returns the most probable outcome, the first of equals, and its probability.
func (f Forecast) top() (outcome int, p float64) {
	for k, v := range f.P {
		if v > p {
			outcome, p = k, v
		}
	}
	return outcome, p
}

func (f Forecast) brier() (sum float64) {
	for k, v := range f.P {
		if k == f.Actual {
			v = 1 - v
		}
		sum += v * v
	}
	return sum
}

func binOf(p float64) int { return max(0, min(bins-1, int(p*bins))) }

func (b *Bin) finish() {
	if b.N > 0 {
		b.Predicted /= float64(b.N)
		b.Share = float64(b.Right) / float64(b.N)
	}
	b.From, b.To = stats.Wilson(float64(b.Right), b.N, stats.Z95)
}

// chance returns the 2.5 and the 97.5 % quantile of ECE where the predictions are right.
func chance(all []Forecast, stream *rand.Rand) [2]float64 {
	var in [bins][]float64 // probabilities of the most probable outcomes
	var variance [bins]float64
	for _, one := range all {
		_, p := one.top()
		in[binOf(p)] = append(in[binOf(p)], p)
		variance[binOf(p)] += p * (1 - p)
	}
	errors := make([]float64, simulated)
	for k := range errors {
		for b, ps := range in {
			errors[k] += math.Abs(lack(ps, variance[b], stream)) / float64(len(all))
		}
	}
	slices.Sort(errors)
	return [2]float64{errors[simulated/40-1], errors[simulated-simulated/40]}
}

// lack draws by how many fewer answers come true than are expected, of answers that come true
// with probabilities ps; variance is that of the number.
func lack(ps []float64, variance float64, stream *rand.Rand) (out float64) {
	if variance > wide || len(ps) > many {
		return math.Sqrt(variance) * stream.NormFloat64()
	}
	for _, p := range ps {
		out += p
		if stream.Float64() < p {
			out--
		}
	}
	return out
}
