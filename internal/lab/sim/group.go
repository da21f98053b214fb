package sim

import (
	"math"
	"math/rand/v2"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// pick returns the best and the worst of the clips of a group by one who sees each as good as
// its reward and what noise draws for it, once.
func pick(q idrl.QueryVector, theta []float64, scale float64, noise func() float64) idrl.Answer {
	seen := make([]float64, len(q.Each))
	for i, phi := range q.Each {
		if len(phi) != len(theta) {
			panic("sim: the question is about another environment")
		}
		seen[i] = floats.Dot(theta, phi)/scale + noise()
	}
	best, worst := floats.MaxIdx(seen), floats.MinIdx(seen)
	if best == worst { // all are equal
		worst = (best + 1) % len(seen)
	}
	return idrl.Answer{Choice: idrl.BestWorst, Best: idrl.SideOf(best), Worst: idrl.SideOf(worst)}
}

// group picks the best and the worst of a group with noise of which any two clips compare as in
// a comparison: the difference of two Gumbel variables is logistic, and that of two normal ones
// normal. "bernoulli" has normal noise with the variance of the uniform one that its
// comparisons stand for.
func (e *expert) group(q idrl.QueryVector, rng *rand.Rand) idrl.Answer {
	noise := func() float64 { return e.opt.NoiseStd / math.Sqrt2 * rng.NormFloat64() }
	switch e.name {
	case "bradley-terry", "tie-band", "b-pref":
		noise = func() float64 { return -e.opt.Temperature * math.Log(rng.ExpFloat64()) }
	case "bernoulli":
		noise = func() float64 { return rng.NormFloat64() / math.Sqrt(6) }
	}
	return pick(q, e.theta, e.opt.Range, noise)
}

// group picks as the model of a session has it (docs/methods.md, section 2.7), but without lapses.
func (m *matched) group(q idrl.QueryVector, rng *rand.Rand) idrl.Answer {
	return pick(q, m.theta, 1, func() float64 { return m.spec.NoiseStd / math.Sqrt2 * rng.NormFloat64() })
}
