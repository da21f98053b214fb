package belief

import (
	"math"
	"slices"

	"tiebreak/internal/idrl"
)

// Predict returns the probabilities of the answers a, b and 'equal' to a comparison whose u
// is believed to be N(m, v), where a and b may be much better or not. Of a likelihood of
// numbers, PlusMinus, it returns densities scaled to add up to one.
func Predict(l idrl.Likelihood, m, v float64) (p [3]float64) {
	sum := 0.0
	choices := []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}
	for _, a := range idrl.Replies(l) {
		logZ, _, _ := l.LogZ(a, m, v)
		z := math.Exp(logZ)
		p[slices.Index(choices, a.Choice)] += z
		sum += z
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}
