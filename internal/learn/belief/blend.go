package belief

import (
	"math"
	"slices"
	"sync"

	"tiebreak/internal/idrl"
)

// A blend is the likelihood of the answers of an annotator whose manner is not known: a mixture
// of bases and lapses by the weights of the manners.
type blend struct {
	parts             []blended
	joined            []blended // parts for Info, of which there are fewer
	alike, decided    float64   // weights of lapses with equally probable outcomes, and of those that are rarely 'equal'
	lapses            cells     // probabilities of the answers to a comparison, and that they are lapses
	grid              *manners
	offset, offsetVar float64
}

// blended is a base with its weight.
type blended struct {
	*base
	weight float64
}

// leastBlended is the weight of a base in a blend, as a share of the greatest, below which it is
// left out: blends are for the choice of questions.
const leastBlended = 0.02

var _ idrl.Likelihood = blend{}

// keptBlend is the likelihood of the answers of a person. It is computed when it is first used.
type keptBlend struct {
	once sync.Once
	of   idrl.Likelihood
}

// answersOf returns the likelihood of the answers of who.
func (g *manners) answersOf(who person) idrl.Likelihood {
	k := who.kept
	if k == nil {
		return g.blend(who)
	}
	k.once.Do(func() { k.of = g.blend(who) })
	return k.of
}

// blend computes the likelihood of the answers of who.
func (g *manners) blend(who person) blend {
	meant, sum, most := make([]float64, len(g.bases)), 0.0, 0.0
	out := blend{grid: g, offset: who.offset, offsetVar: who.offsetVar}
	for k, w := range g.list {
		weight := math.Exp(float64(who.logs[k]))
		sum += weight
		meant[w.base] += weight * (1 - w.rate)
		most = max(most, meant[w.base])
		if w.decided {
			out.decided += weight * w.rate
		} else {
			out.alike += weight * w.rate
		}
	}
	kept := out.alike + out.decided
	out.parts = make([]blended, 0, len(meant))
	for i, weight := range meant {
		if weight >= leastBlended*most {
			out.parts, kept = append(out.parts, blended{&g.bases[i], weight}), kept+weight
		}
	}
	for i := range out.parts {
		out.parts[i].weight /= kept
	}
	out.alike /= kept
	out.decided /= kept
	if g.lapse.Outcomes > 0 {
		for i, a := range out.Replies() {
			out.lapses[i].z = out.lapsed(a)
		}
	}
	out.joined = joined(out.parts)
	return out
}

// joined returns parts in which all probits of one noise are replaced by one, whose band is their
// mean.
func joined(parts []blended) []blended {
	out, bands := make([]blended, 0, len(parts)), make([]float64, 0, len(parts))
	for _, p := range parts {
		probit, ok := p.of.(Probit)
		at := slices.IndexFunc(out, func(b blended) bool { return b.noise == p.noise && b.scale == p.scale })
		if !ok || at < 0 {
			out, bands = append(out, p), append(bands, probit.TieBand)
			continue
		}
		out[at].weight += p.weight
		bands[at] += (probit.TieBand - bands[at]) * p.weight / out[at].weight
	}
	for i, p := range out {
		if probit, ok := p.of.(Probit); ok && probit.TieBand != bands[i] {
			out[i].base = &base{of: Probit{NoiseStd: probit.NoiseStd, TieBand: bands[i]}, noise: p.noise, scale: p.scale}
		}
	}
	return out
}

// lapsed returns the probability, or the density, of a lapse that is a.
func (b blend) lapsed(a idrl.Answer) float64 {
	alike, decided := b.grid.random("", &a)
	return b.alike*alike + b.decided*decided
}

// LogZ returns log Z of answer a and its first two derivatives in m.
func (b blend) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	z, first, second := b.sums(a, m, v)
	if !(z > 0) {
		return math.Inf(-1), 0, 0
	}
	d1 = first / z
	return math.Log(z), d1, second/z - d1*d1
}

// sums returns Z of answer a and its first two derivatives.
func (b blend) sums(a idrl.Answer, m, v float64) (z, first, second float64) {
	z = b.lapsed(a)
	for _, p := range b.parts {
		z0, z1, z2 := sums(p.of, &a, b.offset+p.scale*m, p.scale*p.scale*v+b.offsetVar)
		z += p.weight * z0
		first += p.weight * p.scale * z1
		second += p.weight * p.scale * p.scale * z2
	}
	return z, first, second
}

// threeCells bounds the Fisher information about the mean of a normal variable if only the one of
// three intervals in which it lies is known, as a share of that of the variable itself. It is one
// less the distortion of the best quantiser with three levels, 0.1902 (Max, "Quantizing for
// minimum distortion", 1960).
const threeCells = 0.81

// MostInfo returns an upper bound of Info(m, v): the weighted mean of those of the bases, or +Inf
// if a base has none.
func (b blend) MostInfo(v float64) (sum float64) {
	for i := range b.joined {
		p := &b.joined[i]
		if probit, ok := p.of.(Probit); ok { // the scale is 1 or −1
			sum += p.weight * threeCells * probit.MostInfo(v)
		} else if known, ok := p.of.(interface{ MostInfo(v float64) float64 }); ok {
			sum += p.weight * p.scale * p.scale * known.MostInfo(p.scale*p.scale*v+b.offsetVar)
		} else {
			return math.Inf(1)
		}
	}
	return sum
}

// Replies returns the answers to a comparison that the likelihood tells apart.
func (b blend) Replies() []idrl.Answer { return replies(b.grid.lapse.Outcomes) }

// Info returns w = E_y[(∂ log Z(y)/∂m)²]. For comparisons it uses joined, which takes a quarter of
// the work and has an error of up to 4 % within two standard deviations of the noise.
func (b blend) Info(m, v float64) (w float64) {
	if b.grid.lapse.Outcomes > 0 {
		return b.comparisonInfo(m, v)
	}
	add := func(a idrl.Answer, width float64) {
		if z, first, _ := b.sums(a, m, v); z > 0 {
			w += width * first * first / z
		}
	}
	rate := func(y, width float64) { add(idrl.Answer{Choice: idrl.Rated, Rating: y}, width) }
	if _, ends := b.grid.lapse.Of.(RatingClipped); ends {
		rate(-1, 1)
		rate(1, 1)
	}
	lo, end := b.window(m, v)
	for i, node := range coarse.x {
		rate(lo+(end-lo)*node, (end-lo)*coarse.w[i])
	}
	return w
}

// comparisonInfo is Info of a comparison.
func (b blend) comparisonInfo(m, v float64) (w float64) {
	sum, replies := b.lapses, b.Replies()
	for i := range b.joined {
		sum.add(&b.joined[i], replies, m, v)
	}
	for _, c := range sum[:len(replies)] {
		if c.z > 0 {
			w += c.z1 * c.z1 / c.z
		}
	}
	return w
}

// cells are Z of the answers to a comparison, in the order of replies(5), and their derivatives
// in m.
type cells [5]struct{ z, z1 float64 }

// add adds the weighted numbers of p for the given replies.
func (c *cells) add(p *blended, replies []idrl.Answer, m, v float64) {
	if probit, ok := p.of.(Probit); ok {
		c.addProbit(probit, p.weight, p.scale, m, v)
		return
	}
	for i := range replies {
		z, z1, _ := sums(p.of, &replies[i], p.scale*m, v)
		c[i].z += p.weight * z
		c[i].z1 += p.weight * p.scale * z1
	}
}

// addProbit is add for a probit about side·u, where side is 1 or −1: two tails, and the rest.
func (c *cells) addProbit(p Probit, weight, side, m, v float64) {
	m *= side
	r := math.Sqrt(v + p.NoiseStd*p.NoiseStd)
	a, slopeA := upper((p.TieBand - m) / r)
	b, slopeB := upper((p.TieBand + m) / r)
	slope := side * weight / r
	c[0].z += weight * a
	c[1].z += weight * b
	c[2].z += weight * (1 - a - b)
	c[0].z1 += slope * slopeA
	c[1].z1 -= slope * slopeB
	c[2].z1 += slope * (slopeB - slopeA)
}

// window returns the part of [−1, 1] in which ratings have information: within four standard
// deviations of the means of the bases that are not of little weight.
func (b blend) window(m, v float64) (lo, end float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range b.parts {
		std := 4 * math.Sqrt(p.scale*p.scale*v+b.offsetVar+p.noise*p.noise*b.grid.ratingVar)
		if p.weight < 4*leastBlended { // wide ones of little weight would blur the others
			continue
		}
		low, high = min(low, b.offset+p.scale*m-std), max(high, b.offset+p.scale*m+std)
	}
	return max(-1, min(1, low)), min(1, max(-1, high))
}
