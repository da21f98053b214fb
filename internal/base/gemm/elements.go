package gemm

import "math"

// Step is what a step of Adam multiplies with, for parameter p, its gradient d
// and its moments m and v:
//
//	d' = d + Decay·p
//	m ← Beta1·m + Rest1·d'
//	v ← Beta2·v + Rest2·d'²
//	p ← p − Rate·m/(√v + Eps)
//
// Each product and each sum is rounded.
type Step struct{ Beta1, Rest1, Beta2, Rest2, Rate, Eps, Decay float32 }

// Adam does a step for all parameters. The slices have the same length, a
// multiple of 16.
func (path Path) Adam(s *Step, p, d, m, v []float32) {
	checkLength(len(p), d, m, v)
	checkWidth(len(p))
	if s.vector(path, p, d, m, v) {
		return
	}
	for i := range p { // the conversions keep compilers from fusing
		g := d[i] + float32(s.Decay*p[i])
		m[i] = float32(s.Beta1*m[i]) + float32(s.Rest1*g)
		v[i] = float32(s.Beta2*v[i]) + float32(s.Rest2*float32(g*g))
		p[i] -= float32(s.Rate*m[i]) / (float32(math.Sqrt(float64(v[i]))) + s.Eps)
	}
}

// Polyak moves p towards from: p ← p + tau·(from − p). The slices have the same
// length, a multiple of 16.
func (path Path) Polyak(p, from []float32, tau float32) {
	checkLength(len(p), from)
	checkWidth(len(p))
	if vectorPolyak(path, p, from, tau) {
		return
	}
	for i, v := range from {
		d := v - p[i]
		p[i] += float32(tau * d)
	}
}

func checkLength(n int, others ...[]float32) {
	for _, s := range others {
		if len(s) != n {
			panic("gemm: lengths differ")
		}
	}
}

func checkWidth(n int) {
	if n%Width != 0 {
		panic("gemm: the length is no multiple of 16")
	}
}
