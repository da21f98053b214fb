package sac

import (
	"math"

	"tiebreak/internal/idrl"
)

// A Batch is transitions that need rewards, row by row.
type Batch struct {
	N   int
	Obs []float32 // before the action, without the time, N×ObsDim
	Act []float32 // in the units of the environment, N×Actions.Dim()
	Phi []float32 // features of the step, N×d; nil unless Settings.Features is set
}

// A Reward stores the rewards of b in dst, of length b.N. It is a function of its
// argument, and keeps none of the slices.
type Reward func(dst []float32, b Batch)

// Linear returns the reward θ·φ, for settings with Features.
func Linear(theta []float64) Reward {
	return func(dst []float32, b Batch) {
		for i := range dst {
			phi := b.Phi[i*len(theta) : (i+1)*len(theta)]
			sum := 0.0
			for k, v := range phi {
				sum += float64(theta[k] * float64(v))
			}
			dst[i] = float32(sum)
		}
	}
}

// rewardClip bounds normalised rewards, as VecNormalize of Stable-Baselines3 does.
const rewardClip = 10

// moments are the running mean and variance of rewards (Welford).
type moments struct{ Count, Mean, M2 float64 }

func (m *moments) add(x float64) {
	m.Count++
	d := x - m.Mean
	m.Mean += d / m.Count
	m.M2 += float64(d * (x - m.Mean))
}

// scale returns shift and factor with which (r−shift)·factor is normalised. Rewards
// that have not varied have the factor 1.
func (m *moments) scale() (shift, factor float32) {
	if m.Count < 2 || m.M2 <= 0 {
		return float32(m.Mean), 1
	}
	return float32(m.Mean), float32(1 / math.Sqrt(m.M2/m.Count+1e-8))
}

// checkRewards refuses rewards that are not finite.
func checkRewards(rs []float32) error {
	for _, r := range rs {
		if d := r - r; d != 0 { // of NaN and infinity
			return idrl.Errorf(idrl.Invalid, "the reward of a step is %v; rewards must be finite", r)
		}
	}
	return nil
}
