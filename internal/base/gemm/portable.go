package gemm

import "math"

// portable computes the product without vector instructions, with the bits of
// the kernels.
func (p *Product) portable() {
	for j := 0; j < p.N; j += Width {
		for i := range p.M {
			p.row(i, j)
		}
	}
}

// row computes the elements j to j+15 of row i.
func (p *Product) row(i, j int) {
	c := (*[Width]float32)(p.C.Data[i*p.C.Row+j/Width*p.C.Panel:])
	var sum [Width]float32
	if p.Add {
		sum = *c
	}
	b := p.B.Data[j/Width*p.B.Panel:]
	for k := range p.K {
		a := p.A.Data[i*p.A.Row+k%Width*p.A.Col+k/Width*p.A.Panel]
		for l, v := range (*[Width]float32)(b[k*p.B.Row:]) {
			sum[l] = fma(a, v, sum[l])
		}
	}
	switch p.After {
	case Store:
	case Leaky:
		leaky(&sum, &sum, p.Slope)
	case Mask:
		leaky(&sum, (*[Width]float32)(p.H.Data[i*p.H.Row+j/Width*p.H.Panel:]), p.Slope)
	}
	*c = sum
}

// leaky multiplies the elements of x by slope where h is not positive.
func leaky(x, h *[Width]float32, slope float32) {
	for l, v := range h {
		if !(v > 0) {
			x[l] *= slope
		}
	}
}

// fma returns a·b + c rounded once to float32, as the processor's instruction
// does.
func fma(a, b, c float32) float32 {
	ab := float64(a) * float64(b) // exact: 48 of 53 bits
	s := ab + float64(c)
	if math.Float64bits(s)<<36 != 0 {
		return float32(s) // neither a float32 nor half-way between two: s and a·b + c round alike
	}
	return roundOdd(ab, float64(c), s)
}

// roundOdd returns x + y rounded once to float32, where s is x + y rounded to
// float64: it moves s off the half-way point towards the exact sum.
func roundOdd(x, y, s float64) float32 {
	t := s - x
	e := (x - (s - t)) + (y - t) // s + e is x + y exactly (Knuth's two-sum)
	if e == 0 || math.IsNaN(e) {
		return float32(s)
	}
	if (e > 0) == (s > 0) {
		return float32(math.Float64frombits(math.Float64bits(s) + 1))
	}
	return float32(math.Float64frombits(math.Float64bits(s) - 1))
}
