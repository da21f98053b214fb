package insight

import (
	"math/rand/v2"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// drawn is how many draws of the weights a probability of being the best is computed from:
// its standard error is at most 0.016.
const drawn = 1000

// Best returns the probability of each policy to have the highest return among them, for
// weights drawn from p: the share of 1000 draws, of which equals share one. It is a function
// of its arguments and of the stream's beginning.
func Best(p idrl.Posterior, policies []idrl.Candidate, stream *rand.Rand) []float64 {
	out := make([]float64, len(policies))
	if len(policies) == 0 {
		return out
	}
	theta := make([]float64, p.Dim())
	delta := make([][]float64, len(policies)) // against the first: what all share is left out
	for j, c := range policies {
		delta[j] = floats.SubTo(make([]float64, p.Dim()), c.Mu, policies[0].Mu)
	}
	var best []int
	for range drawn {
		p.Sample(theta, stream)
		most := 0.0
		best = append(best[:0], 0)
		for j := 1; j < len(policies); j++ {
			switch r := floats.Dot(theta, delta[j]); {
			case r > most:
				most, best = r, append(best[:0], j)
			case r == most:
				best = append(best, j)
			}
		}
		for _, j := range best {
			out[j] += 1 / float64(drawn*len(best))
		}
	}
	return out
}
