package acquisition

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// EPD is the expected policy divergence (Daniel et al. 2015): the distance of the
// policy that is optimal for the mean from that after an imagined answer,
//
//	d(RL(μ), RL(μ + Σx_q k)).
//
// The answer lies one predictive standard deviation above its mean: with Gaussian
// noise y = m_q + √(v_q + noise) moves the mean by Σx_q (y − m_q)/(v_q + noise),
// so k = 1/√(v_q + noise) = √w_q. For any other likelihood √w_q is the standard
// deviation of α_y, by E α = 0 and w = E α². It costs one solve per query. Source: the
// paper, appendix "Expected policy divergence"; docs/methods.md, section 1.2.
type EPD struct {
	// Paper imagines y = m_q ± the predictive variance, which is what the paper's
	// text (for +) and code write, and adds both distances, as the code does. Then
	// k = ±1, or ±v_q w_q before the first answer, when the code's predictive
	// variance has no noise. Source: docs/paper-code.md, section 4.
	Paper bool
}

var _ Function = EPD{}

// Score implements Function. It needs in.Solve, whose errors it returns.
func (f EPD) Score(dst []float64, in *Input) (Pair, error) {
	t := in.Table
	t.clear(dst)
	mean := t.belief.Mean(nil)
	before, err := in.Solve(mean)
	if err != nil {
		return noPair(), fmt.Errorf("policy of the mean: %w", err)
	}
	distance := in.Distance
	if distance == nil {
		distance = DiffersIn
	}
	theta := make([]float64, len(mean))
	for i, q := range t.queries {
		t.belief.CovMul(t.sx, q.X)
		for _, k := range f.shifts(in.Observed, t.vari[i], t.Infos()[i]) {
			after, err := in.Solve(floats.AddScaledTo(theta, mean, k, t.sx))
			if err != nil {
				return noPair(), fmt.Errorf("policy after an answer to query %d: %w", i, err)
			}
			dst[i] += distance(before, after)
		}
	}
	return noPair(), nil
}

// shifts returns the imagined answers, as multiples of Σx.
func (f EPD) shifts(observed bool, v, w float64) []float64 {
	switch {
	case !f.Paper:
		return []float64{math.Sqrt(w)}
	case observed:
		return []float64{1, -1}
	default:
		return []float64{v * w, -v * w}
	}
}

// DistanceOf returns the distance of the parameters of two policies that EPD uses:
// DiffersIn for tabular policies and L2 for others. In paper mode it is twice DiffersIn,
// because the authors' code compares one-hot rows, and SquaredL2. Source:
// docs/paper-code.md, section 4.
func DistanceOf(tabular, paper bool) func(a, b []float64) float64 {
	switch {
	case tabular && paper:
		return func(a, b []float64) float64 { return 2 * DiffersIn(a, b) }
	case tabular:
		return DiffersIn
	case paper:
		return SquaredL2
	default:
		return L2
	}
}

// DiffersIn returns the number of places in which a and b differ, for tabular
// policies the number of states. Their lengths must be equal.
func DiffersIn(a, b []float64) float64 {
	if len(a) != len(b) {
		panic("acquisition: two policies have parameters of different lengths")
	}
	var n float64
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// L2 returns the Euclidean distance of a and b, whose lengths must be equal.
func L2(a, b []float64) float64 { return floats.Distance(a, b, 2) }

// SquaredL2 returns its square.
func SquaredL2(a, b []float64) float64 {
	d := slices.Clone(a)
	floats.Sub(d, b)
	return floats.Dot(d, d)
}
