package envtest

import "math"

// AnswerNoise is the standard deviation of an answer's noise in a session about clips, in
// units of θ·x (idrl.SessionSpec.NoiseStd).
const AnswerNoise = 3

// Differences returns, for every two clips of different behaviours, the standard deviation
// of θ·Δφ under the prior in units of AnswerNoise. sums are the features of clips, by
// behaviour and clip; scale has the standard deviations of the weights, length d.
func Differences(sums [][][]float64, scale []float64) (out []float64) {
	for i, one := range sums {
		for _, other := range sums[:i] {
			for _, a := range one {
				for _, b := range other {
					v := 0.0
					for k, s := range scale {
						v += s * s * (a[k] - b[k]) * (a[k] - b[k])
					}
					out = append(out, math.Sqrt(v)/AnswerNoise)
				}
			}
		}
	}
	return out
}
