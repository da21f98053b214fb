package belief

import (
	"math"
	"slices"
	"sync"

	"tiebreak/internal/idrl"
)

// Manners are the ways in which an annotator may answer, with their probabilities for an
// annotator who has not answered yet. An answer is either meant, with the likelihood of a base,
// or a lapse, which does not depend on u:
//
//	p_k(y|u) = rate_k·q_k(y) + (1 − rate_k)·base_k(y|u)
//
// A rate of 1 is an annotator who clicks at random. A base is a likelihood of scale·u, for ratings
// plus the annotator's offset. A scale below 0 is an annotator who confuses the answers.
type manners struct {
	bases     []base
	list      []manner  // each base with all rates of lapses in turn, and then the manners that click at random
	prior     []float64 // log weights of list if at most two annotators have answered, without reversed manners; the greatest is 0
	ofMany    []float64 // the same for more annotators, with reversed manners
	all       []int     // the indexes of the bases
	lapse     Lapse     // has the probabilities of lapses
	offsetVar float64   // of the offset before the first answer; 0 of comparisons
	ratingVar float64   // variance of the noise of a rating by the session's settings

	probits []bandedProbit // the bases, where all are probits of comparisons; else nil
	noises  []float64      // variances of the noise of probits, each once

	strangers [2][]float32 // person.logs of an annotator who has not answered, by prior and by ofMany

	works   sync.Pool // of *work, for updates
	members sync.Pool // of *memberMemory, for fits
}

// bandedProbit is a Probit whose noise is one of manners.noises.
type bandedProbit struct {
	band  float64
	side  float64 // 1, or −1 for an annotator who confuses the answers
	noise int
}

// A base is a likelihood of answers that are meant.
type base struct {
	of     idrl.Likelihood
	remark idrl.Likelihood // of a remark beside a comparison; nil without remarks
	noise  float64         // standard deviation, as a multiple of that of the session
	tie    float64         // width of ties in units of the noise, as a multiple of that of the session; 0 of ratings
	scale  float64         // of u; of comparisons 1, or −1 if the answers are reversed
}

// A manner is a base with a rate of lapses.
type manner struct {
	base    int
	rate    float64 // in [0, 1]
	decided bool    // a lapse is 'equal' with probability rarelyEqual
}

// The grid of manners.
var (
	ownNoises = [...]float64{1. / 4, 1. / 2, math.Sqrt2 / 2, 1, math.Sqrt2, 2, 4}
	ownScales = [...]float64{1. / 2, math.Sqrt2 / 2, 1, math.Sqrt2, 2}
	ownTies   = [...]struct{ width, prior float64 }{{0.08, 0.35}, {0.5, 0.15}, {1, 0.35}, {2, 0.15}}
	ownLapses = [...]struct{ rate, prior float64 }{{0, 0.6}, {0.05, 0.2}, {0.15, 0.12}, {0.5, 0.08}} // without random clicking
)

// The grid of reversed manners is coarser: it serves to detect annotators who confuse the answers, not to
// estimate their noise.
var (
	reversedNoises = [...]float64{1. / 2, 1, 2}
	reversedTies   = [...]float64{0.08, 1}
)

const (
	ownOctaves   = 0.7  // standard deviation of the logarithm of the noise to base 2
	ownRandom    = 0.1  // prior probability that an annotator clicks at random
	ownReversed  = 0.02 // prior probability that an annotator confuses the answers
	fewest       = 3    // annotators from which on reversed manners are possible
	scaleOctaves = 0.35 // standard deviation of the logarithm of the scale of ratings to base 2
	offsetStd    = 0.15 // of ratings, which lie in [−1, 1]

	leastRead = 1e-30 // least probability or density of an answer under a manner

	rarelyEqual = 0.01 // probability of 'equal' in a lapse of a manner that is decided
)

// mannersOf returns the manners around the likelihoods of m for questions of a kind. ok is
// false for likelihoods whose noise is not a number to vary.
func (m Model) mannersOf(kind idrl.QueryKind) (out *manners, ok bool) {
	out = &manners{}
	switch {
	case kind.Group():
	case kind.Comparison():
		m.addComparisons(out)
	default:
		m.addRatings(out)
	}
	if len(out.bases) == 0 {
		return nil, false
	}
	out.addRandom(kind.Comparison())
	out.setPriors()
	out.findProbits()
	return out, true
}

// findProbits sets probits and noises.
func (g *manners) findProbits() {
	var probits []bandedProbit
	for _, b := range g.bases {
		p, ok := b.of.(Probit)
		if !ok || g.offsetVar > 0 {
			g.noises = nil
			return
		}
		noise := p.NoiseStd * p.NoiseStd
		at := slices.Index(g.noises, noise)
		if at < 0 {
			at = len(g.noises)
			g.noises = append(g.noises, noise)
		}
		probits = append(probits, bandedProbit{p.TieBand, b.scale, at})
	}
	g.probits = probits
}

// addComparisons adds the bases of comparisons to out.
func (m Model) addComparisons(out *manners) {
	out.lapse.Outcomes = 3
	for _, tie := range ownTies {
		for _, noise := range ownNoises {
			log := math.Log(tie.prior) - square(math.Log2(noise)/ownOctaves)/2
			add := func(l idrl.Likelihood) {
				b := base{of: l, remark: varyRemark(m.Remark, noise, 0), noise: noise, tie: tie.width, scale: 1}
				out.add(b, log)
				if b.scale = -1; slices.Contains(reversedNoises[:], noise) && slices.Contains(reversedTies[:], tie.width) {
					out.add(b, log)
				}
			}
			switch l := m.Comparison.(type) {
			case Graded:
				out.lapse.Outcomes = 5
				for _, much := range muches {
					if g := (Graded{Of: varyBands(l.Of, noise, tie.width), Much: noise * much * l.Much}); g.Much > g.Of.Tie() {
						add(g)
					}
				}
			case Banded:
				add(varyBands(l, noise, tie.width))
			}
		}
	}
}

// addRatings adds the bases of ratings to out.
func (m Model) addRatings(out *manners) {
	out.offsetVar = offsetStd * offsetStd
	for _, scale := range ownScales {
		for _, noise := range ownNoises {
			log := -square(math.Log2(scale)/scaleOctaves)/2 - square(math.Log2(noise)/ownOctaves)/2
			add := func(l idrl.Likelihood) {
				out.add(base{of: l, noise: noise, scale: scale}, log)
				if scale == 1 && slices.Contains(reversedNoises[:], noise) {
					out.add(base{of: l, noise: noise, scale: -1}, log)
				}
			}
			switch l := m.Rating.(type) {
			case RatingClipped:
				out.lapse.Of, out.ratingVar = l, l.NoiseVar
				add(RatingClipped{NoiseVar: noise * noise * l.NoiseVar})
			case Rating:
				out.lapse.Of, out.ratingVar = l, l.NoiseVar
				add(Rating{NoiseVar: noise * noise * l.NoiseVar})
			}
		}
	}
}

func square(x float64) float64 { return x * x }

// add adds a base with each rate of lapses; log is the logarithm of its prior weight, up to
// a constant.
func (g *manners) add(b base, log float64) {
	for _, lapse := range ownLapses {
		g.list = append(g.list, manner{base: len(g.bases), rate: lapse.rate})
		g.prior = append(g.prior, log+math.Log(lapse.prior))
	}
	g.bases = append(g.bases, b)
}

// addRandom adds the manners that click at random: for comparisons one that is decided, and one
// with equally probable outcomes.
func (g *manners) addRandom(comparison bool) {
	if comparison {
		g.list, g.prior = append(g.list, manner{rate: 1, decided: true}), append(g.prior, 0)
	}
	g.list, g.prior = append(g.list, manner{rate: 1}), append(g.prior, 0)
}

// A mannerKind is one of three kinds of manners.
type mannerKind int

const (
	meantAnswers mannerKind = iota
	reversedAnswers
	randomAnswers
)

// kind returns the kind of manner k.
func (g *manners) kind(k int) mannerKind {
	switch {
	case g.list[k].rate == 1:
		return randomAnswers
	case g.bases[g.list[k].base].scale < 0:
		return reversedAnswers
	default:
		return meantAnswers
	}
}

// setPriors gives each kind of manners its share.
func (g *manners) setPriors() {
	var sums [3]float64
	for k, log := range g.prior {
		sums[g.kind(k)] += math.Exp(log)
	}
	shared := func(shares [3]float64) []float64 {
		out := slices.Clone(g.prior)
		for k := range out {
			kind := g.kind(k)
			out[k] += math.Log(shares[kind] / sums[kind])
		}
		level(out)
		return out
	}
	g.ofMany = shared([3]float64{meantAnswers: 1 - ownRandom - ownReversed, reversedAnswers: ownReversed, randomAnswers: ownRandom})
	g.prior = shared([3]float64{meantAnswers: 1 - ownRandom, randomAnswers: ownRandom})
	g.strangers = [2][]float32{rounded(slices.Clone(g.prior)), rounded(slices.Clone(g.ofMany))}
	for i := range g.bases {
		g.all = append(g.all, i)
	}
}

// priorAmong returns the log weights of an annotator who has not answered, if that many annotators
// answer, this one included. With two who contradict each other it is not known which of them
// confuses the answers.
func (g *manners) priorAmong(people int) []float64 {
	if people < fewest {
		return g.prior
	}
	return g.ofMany
}

// level shifts log weights so that the greatest is 0.
func level(logs []float64) {
	top := math.Inf(-1)
	for _, l := range logs {
		if l > top || l != l { // as the function max, for less work
			top = l
		}
	}
	for i := range logs {
		logs[i] -= top
	}
}

// random returns the probability, or the density, of an answer to a question of a kind if it is
// a lapse: alike with equally probable outcomes, decided with rare 'equal'.
func (g *manners) random(kind idrl.QueryKind, a *idrl.Answer) (alike, decided float64) {
	alike = g.lapse.random(*a)
	switch {
	case kind == idrl.Average: // good or bad
		return 0.5, 0.5
	case g.lapse.Outcomes == 0:
		return alike, alike
	case a.Choice == idrl.Equal:
		return alike, rarelyEqual
	}
	return alike, (1 - rarelyEqual) / float64(g.lapse.Outcomes-1)
}
