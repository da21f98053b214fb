package nn

import "tiebreak/internal/base/gemm"

// Exp stores eˣ in dst, to 2 units in the last place for |x| ≤ 87; beyond that the
// result is wrong, and of NaN it is NaN. The slices have the same length and may be
// the same. The bits are the same on every processor.
func Exp(dst, x []float32) { gemm.Best.Exp(dst, x) }

// Squash stores a = tanh(u), its derivative 1 − a², and log(1 − a²), all to about
// 5·10⁻⁷, the last two also where 1 − a² rounds to 0. Beyond 40, |u| counts as 40.
// NaN propagates. The slices have the same length. The bits are the same on every
// processor.
func Squash(a, slope, logSlope, u []float32) { gemm.Best.Squash(a, slope, logSlope, u) }
