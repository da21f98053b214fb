package sim

import (
	"math"
	"math/rand/v2"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// teach compares as Teacher documents.
func (e *expert) teach(q idrl.QueryVector, rng *rand.Rand) idrl.Answer {
	t := e.opt.Teacher
	rational, mistaken := rng.Float64(), rng.Float64() < t.Mistake
	if t.SkipBelow > 0 && max(e.weighted(q.Clips[0], 1), e.weighted(q.Clips[1], 1)) < t.SkipBelow {
		return idrl.Answer{Choice: idrl.Skip, Reason: "other"}
	}
	difference := floats.Dot(e.theta, q.X)
	perceived := difference
	if t.Discount < 1 {
		perceived = e.weighted(q.Clips[0], t.Discount) - e.weighted(q.Clips[1], t.Discount)
	}
	preferA := perceived >= 0
	if !math.IsInf(t.Beta, 1) {
		preferA = rational < logistic(t.Beta*perceived)
	}
	if math.Abs(difference) < t.EqualWithin {
		return idrl.Answer{Choice: idrl.Equal}
	}
	return choose(preferA != mistaken)
}

// weighted returns Σ γ^(H−t) θ·φ_t over the H steps of a clip.
func (e *expert) weighted(clip idrl.ClipID, discount float64) float64 {
	rows := e.opt.Steps(clip)
	if len(rows) == 0 {
		panic("sim: a clip without steps")
	}
	sum := 0.0
	for _, phi := range rows {
		sum = discount*sum + floats.Dot(e.theta, phi)
	}
	return sum
}
