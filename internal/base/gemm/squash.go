package gemm

import "math"

// Exp stores eˣ in dst, to 2 units in the last place for |x| ≤ 87; beyond that the
// result is wrong, and of NaN it is NaN. The slices have the same length and may be
// the same.
func (path Path) Exp(dst, x []float32) {
	checkLength(len(x), dst)
	for i := vectorExp(path, dst, x); i < len(x); i++ {
		dst[i] = exp(x[i])
	}
}

// Squash stores a = tanh(u), its derivative 1 − a², and log(1 − a²). With e =
// exp(−2|u|) they are
//
//	|a| = (1−e)/(1+e),  1−a² = 4e/(1+e)²,  log(1−a²) = 2 (log 2 − |u| − log(1+e)),
//
// which stay exact where 1 − a² rounds to 0. Beyond 40, |u| counts as 40. NaN
// propagates. The slices have the same length.
func (path Path) Squash(a, slope, logSlope, u []float32) {
	checkLength(len(u), a, slope, logSlope)
	for i := vectorSquash(path, a, slope, logSlope, u); i < len(u); i++ {
		a[i], slope[i], logSlope[i] = squash1(u[i])
	}
}

func squash1(u float32) (a, slope, logSlope float32) {
	x := min(40, float32(math.Abs(float64(u))))
	e := exp(-2 * x)
	inv := 1 / (1 + e)
	a = float32((1 - e) * inv)
	if u < 0 {
		a = -a
	}
	return a, float32(float32(4*e)*inv) * inv, 2 * (math.Ln2 - x - log1p(e))
}

// exp returns eˣ. The standard library's has bits that depend on the processor. With
// n the integer next to x/log 2 and r = x − n log 2, it is 2ⁿ times a polynomial in r
// (Moshier, Cephes Mathematical Library, expf). The conversions keep compilers from
// fusing.
func exp(x float32) float32 {
	const (
		round = 3 << 22 // adding it rounds to an integer
		high  = 0.693359375
		low   = -2.12194440e-4
	)
	n := float32(x*math.Log2E) + round
	bits := math.Float32bits(n)
	n -= round
	r := x - float32(n*high)
	r -= float32(n * low)
	p := float32(1.9875691500e-4)
	p = float32(p*r) + 1.3981999507e-3
	p = float32(p*r) + 8.3334519073e-3
	p = float32(p*r) + 4.1665795894e-2
	p = float32(p*r) + 1.6666665459e-1
	p = float32(p*r) + 5.0000001201e-1
	p = float32(p*float32(r*r)) + r + 1
	return p * math.Float32frombits((bits+127)<<23)
}

// log1p returns log(1+e) for e in [0, 1] to 2·10⁻⁷. With s = e/(2+e) it is
// 2 (s + s³/3 + s⁵/5 + …).
func log1p(e float32) float32 {
	s := e / (2 + e)
	q := float32(s * s)
	p := float32(1. / 13)
	p = float32(p*q) + 1./11
	p = float32(p*q) + 1./9
	p = float32(p*q) + 1./7
	p = float32(p*q) + 1./5
	p = float32(p*q) + 1./3
	p = float32(float32(p*q) * s)
	return float32(2 * (s + p))
}
