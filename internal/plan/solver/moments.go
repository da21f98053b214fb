package solver

import (
	"math"
	"math/rand/v2"

	"tiebreak/internal/idrl"
)

// moments are the count, mean and squared deviations of observations, by
// dimension.
type moments struct {
	count    float64
	mean, m2 []float64 // m2 is Σ(x − mean)²
}

func newMoments(d int) moments {
	return moments{mean: make([]float64, d), m2: make([]float64, d)}
}

// add counts one observation (Welford's update).
func (m *moments) add(x []float64) {
	m.count++
	for i, v := range x {
		off := v - m.mean[i]
		m.mean[i] += off / m.count
		m.m2[i] += off * (v - m.mean[i])
	}
}

// merge counts the observations behind o (Chan's update).
func (m *moments) merge(o moments) {
	total := m.count + o.count
	if total == 0 {
		return
	}
	for i := range m.mean {
		off := o.mean[i] - m.mean[i]
		m.mean[i] += off * o.count / total
		m.m2[i] += o.m2[i] + off*off*m.count*o.count/total
	}
	m.count = total
}

// assume replaces m by that many observations with these moments.
func (m *moments) assume(mean, std []float64, count float64) {
	m.count = count
	copy(m.mean, mean)
	for i, s := range std {
		m.m2[i] = s * s * count
	}
}

// minObsStd is the standard deviation below which an observation counts as
// constant.
const minObsStd = 1e-7

// std returns the population standard deviations, 1 for constant observations.
func (m *moments) std() []float64 {
	out := make([]float64, len(m.m2))
	for i, s := range m.m2 {
		out[i] = 1
		if v := math.Sqrt(s / m.count); v > minObsStd { // false if nothing was counted
			out[i] = v
		}
	}
	return out
}

// watched is a policy that counts the observations it acts on.
type watched struct {
	*Linear
	seen *moments
}

// Act counts obs and acts as the policy does.
func (w watched) Act(dst idrl.Action, obs []float64, rng *rand.Rand) idrl.Action {
	w.seen.add(obs)
	return w.Linear.Act(dst, obs, rng)
}
