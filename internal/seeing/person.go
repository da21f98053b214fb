package seeing

import (
	"math"

	"tiebreak/internal/clip"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
)

// A Person compares clips by a taste, and gives the opposite answer now and then.
type Person struct {
	Taste
	Mistake float64 // probability of it, in [0, 1]; not where the clips are equal
	Seed    uint64  // of the mistakes
}

// Compare returns the answer to the person's n-th question, about two clips. Errors are
// those of Worth.
func (p Person) Compare(n int, a, b *clip.Clip) (idrl.Answer, error) {
	first, err := p.Worth(a)
	if err != nil {
		return idrl.Answer{}, err
	}
	second, err := p.Worth(b)
	if err != nil {
		return idrl.Answer{}, err
	}
	d := first - second
	if rng.New(p.Seed, "mistake", uint64(n)).Float64() < p.Mistake {
		d = -d
	}
	switch {
	case math.Abs(d) < p.Equal:
		return idrl.Answer{Choice: idrl.Equal}, nil
	case d > 0:
		return idrl.Answer{Choice: idrl.ChoseA}, nil
	}
	return idrl.Answer{Choice: idrl.ChoseB}, nil
}
