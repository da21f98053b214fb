package seeing

import (
	"math"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
)

// A Person answers by a taste, and gives the opposite answer now and then.
type Person struct {
	Taste
	Mistake float64 // probability of it, in [0, 1]; not where the clips are equal
	Seed    uint64  // of the mistakes, and of what is overlooked

	// Threshold is the difference of two clips, as Contrast measures it, that is seen in half of
	// the cases. 0: of somebody who sees every difference, and finds nothing unclear.
	Threshold float64
}

// A Reply is an answer, and how hard it was to give.
type Reply struct {
	idrl.Answer
	Hard float64 // 0: seen at a glance; 1: looked at for long
}

// Compare returns the answer of somebody who sees every difference to the person's n-th
// question, about two clips. Errors are those of Worth.
func (p Person) Compare(n int, a, b *clip.Clip) (idrl.Answer, error) {
	d, err := p.prefers(a, b)
	if err != nil {
		return idrl.Answer{}, err
	}
	return p.choose(d, rng.New(p.Seed, "mistake", uint64(n)).Float64()), nil
}

// prefers returns by how much the worth of a is above that of b.
func (p Person) prefers(a, b *clip.Clip) (float64, error) {
	first, err := p.Worth(a)
	if err != nil {
		return 0, err
	}
	second, err := p.Worth(b)
	return first - second, err
}

// choose returns the choice for a difference of worths. lapse is uniform in [0, 1).
func (p Person) choose(d, lapse float64) idrl.Answer {
	if lapse < p.Mistake {
		d = -d
	}
	switch {
	case math.Abs(d) < p.Equal:
		return idrl.Answer{Choice: idrl.Equal}
	case d > 0:
		return idrl.Answer{Choice: idrl.ChoseA}
	}
	return idrl.Answer{Choice: idrl.ChoseB}
}

// Answer returns the reply to a question about one clip, which is to be rated, two, which are
// to be compared, or a group, of which the best and the worst are to be named, that the person was asked n times before. It is a function of Person,
// question and n. Errors are those of Worth and of package measure.
func (p Person) Answer(q idrl.QueryID, n uint64, clips ...*clip.Clip) (Reply, error) {
	stream := rng.New(p.Seed, "seeing "+string(q), n)
	c := chance{sight: stream.Float64(), word: stream.Float64(), lapse: stream.Float64()}
	switch len(clips) {
	case 1:
		return p.rate(clips[0], c)
	case idrl.GroupSize:
		return p.group(clips, c, stream)
	}
	return p.compare(clips[0], clips[1], c)
}

// A chance holds what is left to chance in a reply: numbers in [0, 1).
type chance struct{ sight, word, lapse float64 }

// unclear is the reply to what cannot be judged.
var unclear = Reply{Answer: idrl.Answer{Choice: idrl.CantTell}, Hard: 1}

// compare says "can't tell" of clips that look alike, of which neither moves, or that both are of
// a fallen robot. What is different, but not seen, is equal or cannot be told, each in half of the
// cases.
func (p Person) compare(a, b *clip.Clip, c chance) (Reply, error) {
	pair, err := look(a, b)
	if err != nil {
		return Reply{}, err
	}
	d, err := p.prefers(a, b)
	if err != nil {
		return Reply{}, err
	}
	sees := p.sees(pair, a.Header.Distance == 0)
	r := Reply{Hard: 1 - sees*(1-math.Exp2(-math.Abs(d)/(2*p.Equal)))}
	switch {
	case p.Threshold > 0 && !pair.Answerable():
		return unclear, nil
	case c.sight < sees:
		r.Answer = p.choose(d, c.lapse)
	case c.word < 0.5:
		r.Choice = idrl.Equal
	default:
		r.Choice = idrl.CantTell
	}
	return r, nil
}

// ratingSteps is the number of steps of the page's scale: eleven buttons.
const ratingSteps = 10

// rate places the worth on the page's scale between Low and High. It says "can't tell" of a robot
// that does not move.
func (p Person) rate(c *clip.Clip, by chance) (Reply, error) {
	v, err := measure.New(c)
	if err != nil {
		return Reply{}, err
	}
	w, err := p.Worth(c)
	if err != nil {
		return Reply{}, err
	}
	if p.Threshold > 0 && c.Header.Distance > 0 && v.Still() && !v.Moment() {
		return unclear, nil
	}
	share := min(max((w-p.Low)/(p.High-p.Low), 0), 1)
	if by.lapse < p.Mistake {
		share = 1 - share
	}
	rating := 2*math.Round(ratingSteps*share)/ratingSteps - 1
	return Reply{Answer: idrl.Answer{Choice: idrl.Rated, Rating: rating}, Hard: 0.5}, nil
}

// look compares two clips in the picture.
func look(a, b *clip.Clip) (measure.Pair, error) {
	first, err := measure.New(a)
	if err != nil {
		return measure.Pair{}, err
	}
	second, err := measure.New(b)
	if err != nil {
		return measure.Pair{}, err
	}
	return measure.Compare(first, second)
}
