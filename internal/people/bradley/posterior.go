package bradley

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// freedom is that of the multivariate t that draws are proposed from. Its tails are wider
// than those of the posterior.
const freedom = 8

// A Sample is draws of the posterior of strengths, with weights: importance sampling around
// the maximum. It is a function of the fit and the stream.
type Sample struct {
	strengths [][]float64 // each with sum 0
	weights   []float64   // whose sum is 1
}

// Sample returns draws of the posterior. Every other one is the draw before it on the other side of
// the maximum (antithetic draws), so that their sides balance.
func (f *Fit) Sample(draws int, rng *rand.Rand) Sample {
	n := f.table.n
	mode := append(slices.Clone(f.Strengths), f.Eta)
	s := Sample{make([][]float64, draws), make([]float64, draws)}
	z, at := mat.NewVecDense(n+1, nil), mat.NewVecDense(n+1, nil)
	var upper mat.TriDense
	f.chol.UTo(&upper)
	top := math.Inf(-1)
	for k := range draws {
		if k%2 == 1 {
			z.ScaleVec(-1, z)
		} else {
			propose(z, rng)
		}
		norm := mat.Dot(z, z)
		if err := at.SolveVec(upper.TTri().T(), z); err != nil {
			panic("bradley: the second derivatives at a maximum are singular")
		}
		x := at.RawVector().Data
		for i := range x {
			x[i] += mode[i]
		}
		s.weights[k] = f.logDensity(x) + float64(freedom+n+1)/2*math.Log1p(norm/freedom)
		s.strengths[k] = centred(x[:n])
		top = max(top, s.weights[k])
	}
	sum := 0.0
	for k, w := range s.weights {
		s.weights[k] = math.Exp(w - top)
		sum += s.weights[k]
	}
	for k := range s.weights {
		s.weights[k] /= sum
	}
	return s
}

// propose stores a draw from the standard multivariate t in z.
func propose(z *mat.VecDense, rng *rand.Rand) {
	chi := 0.0
	for i := range z.Len() {
		z.SetVec(i, rng.NormFloat64())
	}
	for range freedom {
		v := rng.NormFloat64()
		chi += v * v
	}
	z.ScaleVec(math.Sqrt(freedom/chi), z)
}

// Best returns the probability of each entrant that its strength is the greatest.
func (s Sample) Best(n int) []float64 {
	out := make([]float64, n)
	for k, x := range s.strengths {
		best := 0
		for i, v := range x {
			if v > x[best] {
				best = i
			}
		}
		out[best] += s.weights[k]
	}
	return out
}

// An Interval contains a number with probability 95 %; the remaining probability is equal on both
// sides.
type Interval struct{ Low, High float64 }

// Strength returns the interval of the strength of i.
func (s Sample) Strength(i int) Interval {
	return s.interval(func(x []float64) float64 { return x[i] })
}

// Difference returns the interval of the strength of i minus that of j, and its standard
// deviation.
func (s Sample) Difference(i, j int) (Interval, float64) {
	of := func(x []float64) float64 { return x[i] - x[j] }
	mean, square := 0.0, 0.0
	for k, x := range s.strengths {
		v := of(x)
		mean += s.weights[k] * v
		square += s.weights[k] * v * v
	}
	return s.interval(of), math.Sqrt(max(0, square-mean*mean))
}

func (s Sample) interval(of func([]float64) float64) (in Interval) {
	type draw struct{ v, w float64 }
	all := make([]draw, len(s.weights))
	for k, x := range s.strengths {
		all[k] = draw{of(x), s.weights[k]}
	}
	slices.SortFunc(all, func(a, b draw) int { return cmp.Compare(a.v, b.v) })
	below := 0.0
	in.Low, in.High = all[0].v, all[len(all)-1].v
	for k, d := range all {
		if below < 0.025 {
			in.Low = d.v
		}
		if below += d.w; below >= 0.975 {
			in.High = all[k].v
			break
		}
	}
	return in
}
