package belief

import (
	"math"
	"slices"
	"sync"

	"tiebreak/internal/idrl"
)

// Manners are the ways in which an annotator may answer, with how probable each is of
// somebody who has not answered yet. An answer is meant, and then it has the likelihood of
// one of the bases, or it is a lapse, which says nothing of u:
//
//	p_k(y|u) = rate_k·q_k(y) + (1 − rate_k)·base_k(y|u)
//
// A rate of 1 is somebody who clicks at random. A base of a rating is about scale·u and the
// offset of the annotator.
type manners struct {
	bases     []base
	list      []manner  // each base with all rates of lapses in turn, and then those who click at random
	prior     []float64 // log weights of list; the greatest is 0
	lapse     Lapse     // what a lapse is
	offsetVar float64   // of the offset before the first answer; 0 of comparisons
	ratingVar float64   // of the noise of a rating, as the session is told

	probits []bandedProbit // the bases, where all are probits of comparisons; else nil
	noises  []float64      // variances of the noise of probits, each once

	works sync.Pool // of *work, for updates
}

// bandedProbit is a Probit whose noise is one of manners.noises.
type bandedProbit struct {
	band  float64
	noise int
}

// A base is a likelihood of answers that are meant.
type base struct {
	of     idrl.Likelihood
	remark idrl.Likelihood // of a remark beside a comparison; nil where none is made
	noise  float64         // standard deviation, as a multiple of that of the session
	tie    float64         // width of ties in units of the noise, as a multiple of that of the session; 0 of ratings
	scale  float64         // of u; 1 of comparisons
}

// A manner is a base with a rate of lapses.
type manner struct {
	base    int
	rate    float64 // in [0, 1]
	decided bool    // a lapse is never 'equal', or once in a hundred times
}

// The grid of manners.
var (
	ownNoises = [...]float64{1. / 4, 1. / 2, math.Sqrt2 / 2, 1, math.Sqrt2, 2, 4}
	ownScales = [...]float64{1. / 2, math.Sqrt2 / 2, 1, math.Sqrt2, 2}
	ownTies   = [...]struct{ width, prior float64 }{{0.08, 0.35}, {0.5, 0.15}, {1, 0.35}, {2, 0.15}}
	ownLapses = [...]struct{ rate, prior float64 }{{0, 0.6}, {0.05, 0.2}, {0.15, 0.12}, {0.4, 0.08}} // of those who do not click at random
)

const (
	ownOctaves   = 0.7  // standard deviation of the logarithm of the noise to base 2
	ownRandom    = 0.1  // probability that somebody clicks at random
	scaleOctaves = 0.35 // standard deviation of the logarithm of the scale of ratings to base 2
	offsetStd    = 0.15 // of ratings, which lie in [−1, 1]

	leastRead = 1e-30 // probability or density of an answer under a manner, at least

	rarelyEqual = 0.01 // probability of 'equal' of a lapse that is hardly ever that
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
		probits = append(probits, bandedProbit{p.TieBand, at})
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
				out.add(base{of: l, remark: varyRemark(m.Remark, noise, 0), noise: noise, tie: tie.width, scale: 1}, log)
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
			switch l := m.Rating.(type) {
			case RatingClipped:
				out.lapse.Of, out.ratingVar = l, l.NoiseVar
				out.add(base{of: RatingClipped{NoiseVar: noise * noise * l.NoiseVar}, noise: noise, scale: scale}, log)
			case Rating:
				out.lapse.Of, out.ratingVar = l, l.NoiseVar
				out.add(base{of: Rating{NoiseVar: noise * noise * l.NoiseVar}, noise: noise, scale: scale}, log)
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

// addRandom adds those who click at random, whose lapses are all outcomes of a comparison
// alike, or hardly ever 'equal'.
func (g *manners) addRandom(comparison bool) {
	others := 0.0
	for _, log := range g.prior {
		others += math.Exp(log)
	}
	log := math.Log(others * ownRandom / (1 - ownRandom))
	if comparison {
		log -= math.Ln2
		g.list, g.prior = append(g.list, manner{rate: 1, decided: true}), append(g.prior, log)
	}
	g.list, g.prior = append(g.list, manner{rate: 1}), append(g.prior, log)
	level(g.prior)
}

// level shifts log weights so that the greatest is 0.
func level(logs []float64) {
	top := math.Inf(-1)
	for _, l := range logs {
		top = max(top, l)
	}
	for i := range logs {
		logs[i] -= top
	}
}

// random returns the probability, or the density, of an answer to a question of a kind if it is
// a lapse: the first where all outcomes are alike, the second where 'equal' is rare.
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

// A reading is what an answer says under every manner, given u ~ N(m, v) and an offset.
type reading struct {
	z []float64 // probability or density of the answer under the manners

	meant      []float64 // the same of the bases, if it is no lapse
	rise, bend []float64 // the first two derivatives of meant in t = scale·u + offset
	weights    []float64 // of the bases, work of mix
	scales     []float64 // one over the standard deviation of the answer, by manners.noises
}

// newReading returns memory for a reading.
func (g *manners) newReading() *reading {
	n := len(g.bases)
	return &reading{z: make([]float64, len(g.list)), meant: make([]float64, n), rise: make([]float64, n), bend: make([]float64, n), weights: make([]float64, n), scales: make([]float64, len(g.noises))}
}

// read reads what is observed, in the memory of r. It returns false where that is beyond
// computing.
func (g *manners) read(r *reading, seen observation, m, v, offset, offsetVar float64) bool {
	if remark := seen.query.Kind == idrl.Average; g.probits != nil && !remark {
		g.readProbits(r, seen.answer.Choice, m, v)
	} else {
		g.readBases(r, seen, m, v, offset, offsetVar)
	}
	sum := 0.0
	for i := range r.meant {
		sum += r.meant[i] + math.Abs(r.rise[i]) + math.Abs(r.bend[i])
	}
	alike, decided := g.random(seen.query.Kind, seen.answer)
	for i, meant := range r.meant {
		read := lapsesOf(r.z, i)
		for l, lapse := range ownLapses {
			read[l] = max(leastRead, lapse.rate*alike+(1-lapse.rate)*meant)
		}
	}
	for k := len(g.bases) * len(ownLapses); k < len(g.list); k++ {
		r.z[k] = max(leastRead, alike)
		if g.list[k].decided {
			r.z[k] = max(leastRead, decided)
		}
	}
	return finite(sum)
}

// readBases reads what an answer says under the bases.
func (g *manners) readBases(r *reading, seen observation, m, v, offset, offsetVar float64) {
	remark := seen.query.Kind == idrl.Average
	for i := range g.bases {
		b := &g.bases[i]
		of := b.of
		if remark {
			of = b.remark
		}
		r.meant[i], r.rise[i], r.bend[i] = sums(of, seen.answer, offset+b.scale*m, b.scale*b.scale*v+offsetVar)
	}
}

// readProbits is readBases where all bases are probits, for a fraction of the work: one root for all
// that have the same noise.
func (g *manners) readProbits(r *reading, choice idrl.Choice, m, v float64) {
	for i, noise := range g.noises {
		r.scales[i] = 1 / math.Sqrt(v+noise)
	}
	side := 1.0
	switch choice {
	case idrl.ChoseA:
	case idrl.ChoseB:
		m, side = -m, -1
	case idrl.Equal:
		for i, p := range g.probits {
			scale := r.scales[p.noise]
			r.meant[i], r.rise[i], r.bend[i] = between((-p.band-m)*scale, (p.band-m)*scale, 1/scale)
		}
		return
	default:
		panic("belief: the answer does not answer a comparison")
	}
	for i, p := range g.probits {
		scale := r.scales[p.noise]
		at := (p.band - m) * scale
		z, slope := upper(at)
		slope *= scale
		r.meant[i], r.rise[i], r.bend[i] = z, side*slope, at*slope*scale
	}
}

// lapsesOf returns those of numbers of all manners that belong to base i.
func lapsesOf(all []float64, i int) *[len(ownLapses)]float64 {
	return (*[len(ownLapses)]float64)(all[i*len(ownLapses):])
}

// A push is Z of an answer, times the sum of the weights, and the first two derivatives of
// log Z in the mean of u, and in that of the offset.
type push struct{ z, d1, d2, offset1, offset2 float64 }

// possible reports whether the push is one that a belief can take.
func (p push) possible() bool {
	return p.z > 0 && finite(p.z, p.d1, p.d2, p.offset1, p.offset2)
}

// mix returns the push of an answer that was read, where weights are those of the manners, up
// to a factor.
func (g *manners) mix(r *reading, weights []float64) (p push) {
	for k := len(g.bases) * len(ownLapses); k < len(weights); k++ {
		p.z += weights[k] * r.z[k]
	}
	for i := range r.weights {
		read, z, meant := lapsesOf(r.z, i), 0.0, 0.0 // sums of a base: each in a register
		for l, weight := range lapsesOf(weights, i) {
			z += weight * read[l]
			meant += weight * (1 - ownLapses[l].rate)
		}
		p.z += z
		r.weights[i] = meant
	}
	for i, weight := range r.weights {
		share, scale := weight/p.z, g.bases[i].scale
		p.d1 += share * scale * r.rise[i]
		p.d2 += share * scale * scale * r.bend[i]
		p.offset1 += share * r.rise[i]
		p.offset2 += share * r.bend[i]
	}
	p.d2 -= p.d1 * p.d1
	p.offset2 -= p.offset1 * p.offset1
	return p
}
