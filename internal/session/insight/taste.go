package insight

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/idrl"
)

// A Sample is a clip that people may be asked about, as a question has it.
type Sample struct {
	ID  idrl.ClipID
	Phi []float64 // its features, length d; of a rating divided by the steps
}

// A Verdict says whether the 95 % interval of a number excludes 0.
type Verdict int

// Verdicts.
const (
	Unknown  Verdict = iota // it contains 0
	Likes                   // it lies above 0
	Dislikes                // it lies below 0
)

// z95 is the half-width of a 95 % interval, in standard deviations.
const z95 = 1.96

// judge returns the verdict on a number with that mean and standard deviation.
func judge(mean, std float64) Verdict {
	switch {
	case mean > z95*std:
		return Likes
	case mean < -z95*std:
		return Dislikes
	}
	return Unknown
}

// A Liking is a clip with what the reward, or one of its weights, makes of it.
type Liking struct {
	Clip idrl.ClipID

	// Value is the reward of the clip, or the part of one weight in it, under the posterior mean, less that of the
	// average sample, in units of the standard deviation of the reward over the samples. Std is its standard deviation
	// under the posterior.
	Value, Std float64
	Verdict    Verdict // on Value
}

// A Taste is what the reward as a whole, or one of its weights, likes and dislikes.
type Taste struct {
	Name      string // of the weight's feature; empty for the whole
	Mean, Std float64
	Verdict   Verdict  // on the weight: it likes, or dislikes, much of the feature
	Most      []Liking // samples with the highest values, the highest first
	Least     []Liking // samples with the lowest values, the lowest first
}

// WholeLikings is how many samples with the highest, and with the lowest reward a taste of the whole has.
const WholeLikings = 3

// Tastes returns what the reward as a whole likes and dislikes, and then each weight by |mean|/std, the largest first.
// It is empty where no sample differs from another under the posterior mean, as before the first answer. scale has the
// standard deviation of the prior of each weight, in units of which Taste.Mean and Taste.Std are; names has the names of the features,
// and is nil where the weights have none: then there is the whole alone. Of samples with equal
// values the one comes first that no taste before has, and of these the one with the lowest ID. Weights of features
// that no two samples differ in have no samples. The cost is O(n d²) for n samples.
func Tastes(p idrl.Posterior, scale []float64, names []string, samples []Sample) []Taste {
	if len(samples) == 0 {
		return nil
	}
	t := newTaster(p, samples)
	if !(t.unit > 0) {
		return nil
	}
	out := []Taste{t.whole()}
	if names == nil {
		return out
	}
	weights := make([]int, len(names))
	for k := range weights {
		weights[k] = k
	}
	sure := func(k int) float64 {
		if t.std[k] == 0 {
			return 0
		}
		return math.Abs(t.mean[k]) / t.std[k]
	}
	slices.SortStableFunc(weights, func(a, b int) int { return cmp.Compare(sure(b), sure(a)) })
	for _, k := range weights {
		w := t.weight(k)
		w.Name, w.Mean, w.Std = names[k], t.mean[k]/scale[k], t.std[k]/scale[k]
		out = append(out, w)
	}
	return out
}

// A taster chooses samples.
type taster struct {
	p       idrl.Posterior
	mean    []float64 // of the posterior
	std     []float64 // of each weight
	samples []Sample  // by ID
	average []float64 // of their features
	spread  []float64 // standard deviations of their features
	unit    float64   // standard deviation of their rewards
	shown   map[idrl.ClipID]bool
}

func newTaster(p idrl.Posterior, samples []Sample) *taster {
	d := p.Dim()
	t := &taster{p: p, mean: p.Mean(nil), std: make([]float64, d), samples: slices.Clone(samples), average: make([]float64, d), shown: map[idrl.ClipID]bool{}}
	slices.SortFunc(t.samples, func(a, b Sample) int { return cmp.Compare(a.ID, b.ID) })
	for _, s := range t.samples {
		floats.AddScaled(t.average, 1/float64(len(samples)), s.Phi)
	}
	t.spread = spread(t.samples, t.average)
	work, axis := make([]float64, d), make([]float64, d)
	for k := range d {
		clear(axis)
		axis[k] = 1
		p.CovMul(work, axis)
		t.std[k] = math.Sqrt(max(0, work[k]))
	}
	level, sum := floats.Dot(t.mean, t.average), 0.0
	for _, s := range t.samples {
		v := floats.Dot(t.mean, s.Phi) - level
		sum += v * v
	}
	t.unit = math.Sqrt(sum / float64(len(samples)))
	if t.unit <= 1e-12*math.Abs(level) { // rounding
		t.unit = 0
	}
	return t
}

// spread returns the standard deviation of each feature of samples with that average.
func spread(samples []Sample, average []float64) []float64 {
	out := make([]float64, len(average))
	for k := range out {
		for _, s := range samples {
			x := s.Phi[k] - average[k]
			out[k] += x * x / float64(len(samples))
		}
		out[k] = math.Sqrt(out[k])
	}
	return out
}

// alikeUpTo is the distance of the features of two samples up to which the taste of the whole has one of them alone: solvers
// find nearly the same policy several times. It is the root mean square over the features that vary, each in units of its standard deviation over the samples.
const alikeUpTo = 0.2

// alike reports whether two samples are no further apart than that.
func (t *taster) alike(a, b Sample) bool {
	sum, n := 0.0, 0
	for k, s := range t.spread {
		if s > 0 {
			x := (a.Phi[k] - b.Phi[k]) / s
			sum, n = sum+x*x, n+1
		}
	}
	return sum <= alikeUpTo*alikeUpTo*float64(n)
}

// whole chooses samples by the reward, no two of which are alike.
func (t *taster) whole() (out Taste) {
	value := func(s Sample) float64 { return floats.Dot(t.mean, s.Phi) }
	work := make([]float64, t.p.Dim())
	liking := func(s Sample) Liking {
		x := floats.SubTo(make([]float64, len(work)), s.Phi, t.average)
		m, v := idrl.Moments(t.p, x, t.mean, work)
		return t.liking(s, m, math.Sqrt(max(0, v)))
	}
	has := func(list []Sample, s Sample) bool {
		return slices.ContainsFunc(list, func(o Sample) bool { return t.alike(o, s) })
	}
	var most, least []Sample
	up := slices.SortedStableFunc(slices.Values(t.samples), func(a, b Sample) int { return cmp.Compare(value(b), value(a)) })
	down := slices.SortedStableFunc(slices.Values(t.samples), func(a, b Sample) int { return cmp.Compare(value(a), value(b)) })
	for i := range up {
		if s := up[i]; len(most) < WholeLikings && !has(most, s) && !has(least, s) {
			most = append(most, s)
		}
		if s := down[i]; len(least) < WholeLikings && !has(most, s) && !has(least, s) {
			least = append(least, s)
		}
	}
	for _, s := range most {
		out.Most = append(out.Most, liking(s))
	}
	for _, s := range least {
		out.Least = append(out.Least, liking(s))
	}
	return out
}

// weight chooses samples by the part of weight k in the reward. A weight of 0 counts as if it liked its feature.
func (t *taster) weight(k int) (out Taste) {
	out.Verdict = judge(t.mean[k], t.std[k])
	sign := 1.0
	if t.mean[k] < 0 {
		sign = -1
	}
	first := t.samples[0].Phi[k]
	if !slices.ContainsFunc(t.samples, func(s Sample) bool { return s.Phi[k] != first }) {
		return out
	}
	liking := func(s Sample) Liking {
		x := s.Phi[k] - t.average[k]
		return t.liking(s, t.mean[k]*x, t.std[k]*math.Abs(x))
	}
	out.Most = []Liking{liking(t.highest(func(s Sample) float64 { return sign * s.Phi[k] }))}
	out.Least = []Liking{liking(t.highest(func(s Sample) float64 { return -sign * s.Phi[k] }))}
	return out
}

// highest returns the sample with the highest value, of equals the first that was not shown before, else the first.
func (t *taster) highest(value func(Sample) float64) Sample {
	best := 0
	for i, s := range t.samples {
		b := t.samples[best]
		if v, most := value(s), value(b); v > most || v == most && t.shown[b.ID] && !t.shown[s.ID] {
			best = i
		}
	}
	return t.samples[best]
}

// liking notes that a sample is shown, with that mean and standard deviation of what is made of it.
func (t *taster) liking(s Sample, mean, std float64) Liking {
	t.shown[s.ID] = true
	return Liking{Clip: s.ID, Value: mean / t.unit, Std: std / t.unit, Verdict: judge(mean, std)}
}
