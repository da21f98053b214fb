package acquisition

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// A Selection is the query to ask and what made it worth asking.
type Selection struct {
	Query         int     // index of the table's query; -1 if there is none
	First, Second int     // indexes of the policies it tells apart; -1 if the function has no pair
	PairStd       float64 // standard deviation of the difference of their returns; 0 without a pair
	Info          float64 // expected information about that difference, nats; 0 without a pair
}

// Select returns the query with the highest value of f. Exact ties, between
// pairs of candidates and between queries, are broken uniformly by in.Rand.
func Select(f Function, in *Input) (Selection, error) {
	t, quick := in.Table, *in
	quick.best = true
	t.scores = sized(t.scores, len(t.queries))
	scores := t.scores
	clear(scores)
	p, err := f.Score(scores, &quick)
	if err != nil {
		return Selection{}, err
	}
	s := Selection{Query: argmax(scores, in.Rand), First: p.First, Second: p.Second}
	if p.First >= 0 && s.Query >= 0 {
		delta := t.delta(p.First, p.Second)
		variance := t.variance(delta) // leaves Σδ in t.sx
		cov := floats.Dot(t.sx, row(t.c, s.Query))
		s.PairStd, s.Info = math.Sqrt(variance), information(cov*cov*t.infoOf(s.Query), variance)
	}
	return s, nil
}

// information returns −½ log(1 − gone/variance) nats, the information about a
// Gaussian quantity whose variance shrinks by gone; 0 if there is none to lose.
func information(gone, variance float64) float64 {
	if !(variance > 0) {
		return 0
	}
	const most = 1 - 0x1p-52 // rounding must not make it infinite
	return -0.5 * math.Log1p(-min(most, gone/variance))
}

// argmax returns the index of the largest score; of equal ones it draws one
// uniformly, or takes the first if tie is nil. It returns -1 if there is none.
func argmax(scores []float64, tie *rand.Rand) int {
	best, ties := -1, 0
	for i, s := range scores {
		switch {
		case best < 0 || s > scores[best]:
			best, ties = i, 1
		case s == scores[best]:
			ties++
		}
	}
	if ties < 2 || tie == nil {
		return best
	}
	skip := tie.IntN(ties) // one draw, however many there are
	for i, s := range scores[best:] {
		if s == scores[best] {
			if skip == 0 {
				return best + i
			}
			skip--
		}
	}
	panic("acquisition: the scores have changed")
}
