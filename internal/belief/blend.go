package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// A blend is the likelihood of the answers of an annotator whose manner is not known, by the
// weights of the manners: a mixture of bases, and lapses.
type blend struct {
	parts             []blended
	alike, decided    float64 // weights of lapses whose outcomes are all alike, and of those that are rarely 'equal'
	grid              *manners
	offset, offsetVar float64
}

// blended is a base with its weight.
type blended struct {
	base
	weight float64
}

// leastBlended is the weight of a base in a blend, as a share of the greatest, below which it is
// left out: blends are for the choice of questions.
const leastBlended = 0.02

var _ idrl.Likelihood = blend{}

// blend returns the likelihood of the answers of who.
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
	for i, weight := range meant {
		if weight >= leastBlended*most {
			out.parts, kept = append(out.parts, blended{g.bases[i], weight}), kept+weight
		}
	}
	for i := range out.parts {
		out.parts[i].weight /= kept
	}
	out.alike /= kept
	out.decided /= kept
	return out
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
	alike, decided := b.grid.random("", a)
	z = b.alike*alike + b.decided*decided
	for _, p := range b.parts {
		log, d1, d2 := p.of.LogZ(a, b.offset+p.scale*m, p.scale*p.scale*v+b.offsetVar)
		w := p.weight * math.Exp(log)
		z += w
		first += w * p.scale * d1
		second += w * p.scale * p.scale * (d2 + d1*d1)
	}
	return z, first, second
}

// MostInfo returns what Info(m, v) is at most: the mean of that of the bases, or infinity
// where they do not know it.
func (b blend) MostInfo(v float64) (sum float64) {
	for _, p := range b.parts {
		known, ok := p.of.(interface{ MostInfo(v float64) float64 })
		if !ok {
			return math.Inf(1)
		}
		sum += p.weight * p.scale * p.scale * known.MostInfo(p.scale*p.scale*v+b.offsetVar)
	}
	return sum
}

// Replies returns the answers to a comparison that the likelihood tells apart.
func (b blend) Replies() []idrl.Answer { return replies(b.grid.lapse.Outcomes) }

// Info returns w = E_y[(∂ log Z(y)/∂m)²].
func (b blend) Info(m, v float64) (w float64) {
	add := func(a idrl.Answer, width float64) {
		if z, first, _ := b.sums(a, m, v); z > 0 {
			w += width * first * first / z
		}
	}
	if b.grid.lapse.Outcomes > 0 {
		for _, a := range b.Replies() {
			add(a, 1)
		}
		return w
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

// window returns the part of the scale on which ratings lie that tell something: four standard
// deviations about the mean of the middle base.
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
