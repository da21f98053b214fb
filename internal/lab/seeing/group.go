package seeing

import (
	"math/rand/v2"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// group names the best and the worst of clips. The person goes through them and holds each
// beside the best and beside the worst so far; of two that seem equal, or cannot be told
// apart, chance takes one. With the probability of a mistake both are taken at random. It
// says "can't tell" where no clip stands out. Errors are those of compare.
func (p Person) group(clips []*clip.Clip, c chance, stream *rand.Rand) (Reply, error) {
	best, worst, clear := 0, 0, false
	for i := 1; i < len(clips); i++ {
		above, sure, err := p.above(clips[i], clips[best], stream)
		if err != nil {
			return Reply{}, err
		}
		below, alsoSure, err := p.above(clips[worst], clips[i], stream)
		if err != nil {
			return Reply{}, err
		}
		if above {
			best = i
		}
		if below {
			worst = i
		}
		clear = clear || sure || alsoSure
	}
	if !clear || best == worst {
		return unclear, nil
	}
	if c.lapse < p.Mistake {
		best = stream.IntN(len(clips))
		if worst = stream.IntN(len(clips) - 1); worst >= best {
			worst++
		}
	}
	return Reply{Answer: idrl.Answer{Choice: idrl.BestWorst, Best: idrl.SideOf(best), Worst: idrl.SideOf(worst)}, Hard: 0.5}, nil
}

// above reports whether a seems better than b; sure is false where chance says so.
func (p Person) above(a, b *clip.Clip, stream *rand.Rand) (is, sure bool, err error) {
	r, err := p.compare(a, b, chance{sight: stream.Float64(), word: stream.Float64(), lapse: 1})
	switch r.Choice {
	case idrl.ChoseA, idrl.ChoseB:
		return r.Choice == idrl.ChoseA, true, err
	default:
		return stream.Float64() < 0.5, false, err
	}
}
