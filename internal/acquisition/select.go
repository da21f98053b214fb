package acquisition

import (
	"math"
	"math/rand/v2"

	"tiebreak/internal/idrl"
)

// A Selection is the query to ask and what made it worth asking.
type Selection struct {
	Query         int     // index in Generation.Queries; -1 if there is none
	First, Second int     // indexes of the candidates it tells apart; -1 if the acquisition has no pair
	PairStd       float64 // standard deviation of the difference of their returns; 0 without a pair
	Info          float64 // expected information about that difference, nats; 0 without a pair
}

// pairwise is an acquisition function that values queries by what they tell
// about the difference of two candidates.
type pairwise interface {
	// pair returns the two candidates, ties broken by tie.
	pair(p idrl.Posterior, candidates []idrl.Candidate, tie *rand.Rand) pair
	// scorePair is Score for that pair: the variance of the difference that goes.
	scorePair(dst []float64, m idrl.RewardModel, p idrl.Posterior, g idrl.Generation, c pair) []float64
}

// Select returns the query of g with the highest value of acq under belief p.
// Exact ties, between pairs of candidates and between queries, are broken
// uniformly by tie. Under a pair that cannot differ all queries tie.
func Select(acq idrl.Acquisition, m idrl.RewardModel, p idrl.Posterior, g idrl.Generation, tie *rand.Rand) Selection {
	a, ok := acq.(pairwise)
	if !ok {
		query, _ := argmax(acq.Score(nil, m, p, g), tie)
		return Selection{Query: query, First: -1, Second: -1}
	}
	c := a.pair(p, g.Candidates, tie)
	query, gone := argmax(a.scorePair(nil, m, p, g, c), tie)
	return Selection{Query: query, First: c.first, Second: c.second, PairStd: math.Sqrt(c.variance), Info: information(gone, c.variance)}
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

// argmax returns the index of the largest score and the score; of equal ones it
// draws one uniformly. It returns -1 and 0 if there is none.
func argmax(scores []float64, tie *rand.Rand) (best int, score float64) {
	best = -1
	ties := 0
	for i, s := range scores {
		switch {
		case best < 0 || s > score:
			best, score, ties = i, s, 1
		case s == score:
			if ties++; tie.IntN(ties) == 0 {
				best = i
			}
		}
	}
	return best, score
}
