package belief

import (
	"math"

	"tiebreak/internal/learn/posterior"
)

var (
	_ posterior.RatingLikelihood = Rating{}
	_ posterior.RatingLikelihood = RatingClipped{}
	_ posterior.RatingLikelihood = blend{}
)

// Distribution implements posterior.RatingLikelihood: Y ~ N(m, v + NoiseVar).
func (r Rating) Distribution(y, m, v float64) (below, upTo, mean float64) {
	p := above((m - y) / math.Sqrt(v+r.NoiseVar))
	return p, p, m
}

// Distribution implements posterior.RatingLikelihood: Y is N(m, v + NoiseVar), cut to the scale.
func (c RatingClipped) Distribution(y, m, v float64) (below, upTo, mean float64) {
	r := math.Sqrt(v + c.NoiseVar)
	lo, hi := (-1-m)/r, (1-m)/r
	mean = above(hi) - above(-lo) + m*mass(lo, hi) + r*(bell(lo)-bell(hi))
	switch {
	case y <= -1:
		return 0, above(-lo), mean
	case y >= 1:
		return 1 - above(hi), 1, mean
	}
	p := above((m - y) / r)
	return p, p, mean
}

// Distribution implements posterior.RatingLikelihood.
func (b blend) Distribution(y, m, v float64) (below, upTo, mean float64) {
	lapse := b.alike + b.decided
	below, upTo = b.grid.lapse.below(y)
	below, upTo = lapse*below, lapse*upTo
	for _, p := range b.parts {
		lo, hi, middle := p.of.(posterior.RatingLikelihood).Distribution(y, b.offset+p.scale*m, p.scale*p.scale*v+b.offsetVar)
		below, upTo, mean = below+p.weight*lo, upTo+p.weight*hi, mean+p.weight*middle
	}
	return min(below, 1), min(upTo, 1), mean
}

// below returns P(Y < y) and P(Y ≤ y) of a rating Y that is a lapse, as random has it; its
// mean is 0.
func (l Lapse) below(y float64) (below, upTo float64) {
	end := 0.0
	if _, ends := l.Of.(RatingClipped); ends {
		end = lapseToEnd
	}
	between := end + (0.5-end)*(max(-1, min(1, y))+1)
	switch {
	case y <= -1:
		return 0, end
	case y >= 1:
		return between, 1
	}
	return between, between
}
