package belief

import "math"

// A tailCell is the series of the tail of the standard normal distribution about a point x0:
// with δ = x − x0 the density φ(x) is Σ c_k δ^k, and Q(x) = P(z > x) is q − Σ c_k δ^(k+1)/(k+1).
type tailCell struct {
	q float64
	c [8]float64
}

// The cells lie around 0, 1/16, 2/16, …, 8. Within half a step the first term that is left out is
// 4·10⁻¹⁰ of the density at 8, and less nearer to 0.
const (
	cellsPerUnit = 16
	lastCell     = 8 * cellsPerUnit
)

var tailCells = newTailCells()

func newTailCells() (out [lastCell + 1]tailCell) {
	for i := range out {
		x := float64(i) / cellsPerUnit
		out[i].q = 0.5 * math.Erfc(x/math.Sqrt2)
		density := math.Exp(-0.5*x*x - halfLog2Pi)
		before, he, factorial := 0.0, 1.0, 1.0 // Hermite polynomials, and k!
		for k := range out[i].c {
			out[i].c[k] = density * he / factorial
			if k%2 == 1 {
				out[i].c[k] = -out[i].c[k]
			}
			before, he = he, x*he-float64(k)*before
			factorial *= float64(k + 1)
		}
	}
	return out
}

// upper returns P(z > x) of z ~ N(0, 1) and its density at x, to a relative error of 10⁻⁹, from a
// table. Beyond 8 it computes them.
func upper(x float64) (p, density float64) {
	at := math.Abs(x)
	if !(at <= lastCell/cellsPerUnit) { // NaN too
		return 0.5 * math.Erfc(x/math.Sqrt2), math.Exp(-0.5*x*x - halfLog2Pi)
	}
	i := int(at*cellsPerUnit + 0.5)
	t, d := &tailCells[i], at-float64(i)/cellsPerUnit
	c := &t.c
	density = c[0] + d*(c[1]+d*(c[2]+d*(c[3]+d*(c[4]+d*(c[5]+d*(c[6]+d*c[7]))))))
	p = t.q - d*(c[0]+d*(c[1]*(1./2)+d*(c[2]*(1./3)+d*(c[3]*(1./4)+d*(c[4]*(1./5)+d*(c[5]*(1./6)+d*(c[6]*(1./7)+d*c[7]*(1./8))))))))
	if x < 0 {
		p = 1 - p
	}
	return p, density
}
