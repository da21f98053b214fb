package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// Predict returns the probabilities of the answers a, b and 'equal' to a comparison whose u
// is believed to be N(m, v). Of a likelihood of numbers, PlusMinus, it returns densities
// scaled to add up to one.
func Predict(l idrl.Likelihood, m, v float64) (p [3]float64) {
	sum := 0.0
	for k, c := range [...]idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal} {
		z, _, _ := l.LogZ(idrl.Answer{Choice: c}, m, v)
		p[k] = math.Exp(z)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}
