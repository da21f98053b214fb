package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// A reading holds the likelihoods of an answer under the bases, given u ~ N(m, v) and an offset.
type reading struct {
	alike, decided float64 // probability or density of the answer if it is a lapse, as of random

	meant      []float64 // by base: the same if it is no lapse
	rise, bend []float64 // the first two derivatives of meant in t = scale·u + offset
	scales     []float64 // workspace: 1/standard deviation of u + ε, by manners.noises
}

// newReading returns memory for a reading.
func (g *manners) newReading() *reading {
	n := len(g.bases)
	return &reading{meant: make([]float64, n), rise: make([]float64, n), bend: make([]float64, n), scales: make([]float64, len(g.noises))}
}

// meantRates are the probabilities that an answer is no lapse, by ownLapses.
var meantRates = func() (out lapseNumbers) {
	for l, lapse := range ownLapses {
		out[l] = 1 - lapse.rate
	}
	return out
}()

// lapseNumbers has a number for each of ownLapses.
type lapseNumbers [len(ownLapses)]float64

// lapsed returns, by rate of lapses, the probability that an answer is a lapse and has its value; alike is the
// probability of the value if it is a lapse.
func lapsed(alike float64) (out lapseNumbers) {
	for l := range ownLapses {
		out[l] = ownLapses[l].rate * alike
	}
	return out
}

// times multiplies n by the probabilities of an answer, by rate of lapses. c is the result of lapsed, and meant the
// probability of the answer if it is no lapse.
func (n *lapseNumbers) times(c *lapseNumbers, meant float64) {
	p0, p1, p2, p3 := chance(c[0]+meantRates[0]*meant), chance(c[1]+meantRates[1]*meant), chance(c[2]+meantRates[2]*meant), chance(c[3]+meantRates[3]*meant)
	n[0], n[1], n[2], n[3] = n[0]*p0, n[1]*p1, n[2]*p2, n[3]*p3
}

// learn adds the logarithms of the factors of times.
func (n *lapseNumbers) learn(c *lapseNumbers, meant float64) {
	p0, p1, p2, p3 := chance(c[0]+meantRates[0]*meant), chance(c[1]+meantRates[1]*meant), chance(c[2]+meantRates[2]*meant), chance(c[3]+meantRates[3]*meant)
	n[0], n[1], n[2], n[3] = n[0]+math.Log(p0), n[1]+math.Log(p1), n[2]+math.Log(p2), n[3]+math.Log(p3)
}

// chance returns a probability, at least leastRead.
func chance(p float64) float64 {
	if p > leastRead {
		return p
	}
	return leastRead
}

// randomly returns the probability of the answer under the manner k, which clicks at random.
func (g *manners) randomly(k int, alike, decided float64) float64 {
	if g.list[k].decided {
		return max(leastRead, decided)
	}
	return max(leastRead, alike)
}

// firstRandom returns the first of the manners that click at random, which are the last ones.
func (g *manners) firstRandom() int { return len(g.bases) * len(ownLapses) }

// read stores the probabilities of an observation under some bases in r. It returns false if they cannot be
// computed.
func (g *manners) read(r *reading, seen observation, bases []int, m, v, offset, offsetVar float64) bool {
	if remark := seen.query.Kind == idrl.Average; g.probits != nil && !remark {
		g.readProbits(r, seen.answer.Choice, bases, m, v)
	} else {
		g.readBases(r, seen, bases, m, v, offset, offsetVar)
	}
	sum := 0.0
	for _, i := range bases {
		sum += r.meant[i] + math.Abs(r.rise[i]) + math.Abs(r.bend[i])
	}
	r.alike, r.decided = g.random(seen.query.Kind, seen.answer)
	return finite(sum)
}

// readBases is read by the likelihoods of the bases. A remark about both clips is not reversed for an annotator
// who confuses the answers.
func (g *manners) readBases(r *reading, seen observation, bases []int, m, v, offset, offsetVar float64) {
	remark := seen.query.Kind == idrl.Average
	for _, i := range bases {
		b := &g.bases[i]
		if remark {
			r.meant[i], r.rise[i], r.bend[i] = sums(b.remark, seen.answer, m, v)
			r.rise[i] *= b.scale // 1 or −1
			continue
		}
		r.meant[i], r.rise[i], r.bend[i] = sums(b.of, seen.answer, offset+b.scale*m, b.scale*b.scale*v+offsetVar)
	}
}

// readProbits is readBases if all bases are probits. It takes less time: it computes one square root for each
// noise.
func (g *manners) readProbits(r *reading, choice idrl.Choice, bases []int, m, v float64) {
	for i, noise := range g.noises {
		r.scales[i] = 1 / math.Sqrt(v+noise)
	}
	side := 1.0
	switch choice {
	case idrl.ChoseA:
	case idrl.ChoseB:
		side = -1
	case idrl.Equal:
		for _, i := range bases {
			p := &g.probits[i]
			scale, t := r.scales[p.noise], p.side*m
			r.meant[i], r.rise[i], r.bend[i] = between((-p.band-t)*scale, (p.band-t)*scale, 1/scale)
		}
		return
	default:
		panic("belief: the answer does not answer a comparison")
	}
	for _, i := range bases {
		p := &g.probits[i]
		scale := r.scales[p.noise]
		at := (p.band - side*p.side*m) * scale
		z, slope := upper(at)
		slope *= scale
		r.meant[i], r.rise[i], r.bend[i] = z, side*slope, at*slope*scale
	}
}

// lapsesOf returns those of numbers of all manners that belong to base i.
func lapsesOf(all []float64, i int) *lapseNumbers {
	return (*lapseNumbers)(all[i*len(ownLapses):])
}

// A push is Z of an answer, times the sum of the weights, and the first two derivatives of
// log Z in the mean of u, and in that of the offset.
type push struct{ z, d1, d2, offset1, offset2 float64 }

// possible reports whether the push is finite and z is positive.
func (p push) possible() bool {
	return p.z > 0 && finite(p.z, p.d1, p.d2, p.offset1, p.offset2)
}

// mix returns the push of an answer that was read under some bases. weights are those of the manners, up to a
// factor. Other bases have the weight 0.
func (g *manners) mix(r *reading, bases []int, weights []float64) (p push) {
	for k := g.firstRandom(); k < len(weights); k++ {
		p.z += weights[k] * g.randomly(k, r.alike, r.decided)
	}
	c := lapsed(r.alike)
	for _, i := range bases {
		w := lapsesOf(weights, i)
		z := r.meant[i]
		p0, p1, p2, p3 := chance(c[0]+meantRates[0]*z), chance(c[1]+meantRates[1]*z), chance(c[2]+meantRates[2]*z), chance(c[3]+meantRates[3]*z)
		p.z += w[0]*p0 + w[1]*p1 + w[2]*p2 + w[3]*p3
		meant := w[0]*meantRates[0] + w[1]*meantRates[1] + w[2]*meantRates[2] + w[3]*meantRates[3]
		scale := g.bases[i].scale
		p.offset1 += meant * r.rise[i]
		p.offset2 += meant * r.bend[i]
		p.d1 += meant * scale * r.rise[i]
		p.d2 += meant * scale * scale * r.bend[i]
	}
	one := 1 / p.z
	p.d1, p.d2, p.offset1, p.offset2 = p.d1*one, p.d2*one, p.offset1*one, p.offset2*one
	p.d2 -= p.d1 * p.d1
	p.offset2 -= p.offset1 * p.offset1
	return p
}
