package acquisition

import (
	"math"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A Grouping is the choice of a group of clips: it has the best pair of a session's
// acquisition function, and the clips that may be added to it.
type Grouping struct {
	Likelihood idrl.GroupLikelihood
	Belief     idrl.Posterior // given that the pending questions are answered
	Delta      []float64      // μ_i − μ_j of the two policies about which the pair has most information, length d; nil if there are none
	Clips      [][]float64    // Φ of each, length d
	First      [2]int         // the pair, by places in Clips
	Size       int            // of the group, at least 2

	// Weight returns the factor by which the value of adding clip i to the chosen ones is
	// multiplied; 0 if it must not be added. mean and variance are those of θ·Φ_i − θ·Φ_j,
	// one for each chosen j.
	Weight func(chosen []int, i int, mean, variance []float64) float64
}

// tried is how many clips are valued at each step: those with the highest value together
// with a clip of the first pair.
const tried = 16

// Choose returns the places in Clips of the clips of a group, the first pair first; fewer
// than Size if not enough clips may be added. It adds one clip after the other, each time
// the one with the highest value times its weight. The value is the expected reduction of
// the variance of θ·Delta, or without Delta the information −½ log det(I − VW) about the
// differences of the clips. gone is that expected reduction for the whole group, 0 without
// Delta. The result is a function of g. Source: docs/methods.md, section 2.7.
func (g Grouping) Choose() (chosen []int, gone float64) {
	w := newGroupWork(g)
	chosen = slices.Clone(g.First[:])
	list := w.shortlist()
	for len(chosen) < g.Size {
		next, most := -1, 0.0
		for _, i := range list {
			if slices.Contains(chosen, i) {
				continue
			}
			weight := w.weight(chosen, i)
			if !(weight > 0) {
				continue
			}
			if score := weight * w.value(append(slices.Clip(chosen), i)); next < 0 || score > most {
				next, most = i, score
			}
		}
		if next < 0 {
			if whole := w.all(); len(list) < len(whole) {
				list = whole // none of the shortlist may be added
				continue
			}
			break
		}
		chosen = append(chosen, next)
	}
	if g.Delta != nil && len(chosen) > 1 {
		gone = w.value(chosen)
	}
	return chosen, gone
}

// groupWork holds products of a belief with clips.
type groupWork struct {
	Grouping
	mean  []float64   // of θ·Φ_i
	image [][]float64 // ΣΦ_i
	g     []float64   // Cov(θ·Delta, θ·Φ_i); nil without Delta
}

func newGroupWork(g Grouping) *groupWork {
	w := &groupWork{Grouping: g, mean: make([]float64, len(g.Clips)), image: make([][]float64, len(g.Clips))}
	mean := g.Belief.Mean(nil)
	for i, phi := range g.Clips {
		w.image[i] = make([]float64, len(phi))
		g.Belief.CovMul(w.image[i], phi)
		w.mean[i] = floats.Dot(mean, phi)
	}
	if g.Delta != nil {
		for _, s := range w.image {
			w.g = append(w.g, floats.Dot(s, g.Delta))
		}
	}
	return w
}

func (w *groupWork) cov(i, j int) float64 { return floats.Dot(w.image[i], w.Clips[j]) }

// between returns the variance of the difference of the rewards of two clips.
func (w *groupWork) between(i, j int) float64 {
	return max(0, w.cov(i, i)+w.cov(j, j)-w.cov(i, j)-w.cov(j, i))
}

func (w *groupWork) weight(chosen []int, i int) float64 {
	mean, variance := make([]float64, len(chosen)), make([]float64, len(chosen))
	for k, j := range chosen {
		mean[k], variance[k] = w.mean[i]-w.mean[j], w.between(i, j)
	}
	return w.Weight(chosen, i, mean, variance)
}

// value returns the value of the answer about some clips, as for Choose without the weight.
func (w *groupWork) value(chosen []int) float64 {
	k := len(chosen) - 1
	m, v := make([]float64, k), mat.NewSymDense(k, nil)
	base := chosen[0]
	for a, i := range chosen[1:] {
		m[a] = w.mean[i] - w.mean[base]
		for b, j := range chosen[1 : a+2] {
			v.SetSym(a, b, w.cov(i, j)-w.cov(i, base)-w.cov(base, j)+w.cov(base, base))
		}
	}
	info := w.Likelihood.RoughInfo(m, v)
	if w.g == nil {
		return informationOf(v, info)
	}
	g := mat.NewVecDense(k, nil)
	for a, i := range chosen[1:] {
		g.SetVec(a, w.g[i]-w.g[base])
	}
	return mat.Inner(g, info, g)
}

// informationOf returns −½ log det(I − VW) nats.
func informationOf(v, w *mat.SymDense) float64 {
	var left mat.Dense
	left.Mul(v, w)
	left.Scale(-1, &left)
	for i := range v.SymmetricDim() {
		left.Set(i, i, left.At(i, i)+1)
	}
	log, sign := mat.LogDet(&left)
	if sign <= 0 || math.IsNaN(log) {
		return 0
	}
	return max(0, -0.5*log)
}

// shortlist returns the clips with the highest value together with one of the first pair,
// the best first.
func (w *groupWork) shortlist() []int {
	scores := make([]float64, len(w.Clips))
	for i := range w.Clips {
		for _, j := range w.First {
			if i != j {
				scores[i] = max(scores[i], w.value([]int{j, i}))
			}
		}
	}
	list := w.all()
	slices.SortStableFunc(list, func(i, j int) int {
		switch {
		case scores[i] > scores[j]:
			return -1
		case scores[i] < scores[j]:
			return 1
		}
		return 0
	})
	return list[:min(tried, len(list))]
}

// all returns every clip but those of the first pair.
func (w *groupWork) all() (list []int) {
	for i := range w.Clips {
		if i != w.First[0] && i != w.First[1] {
			list = append(list, i)
		}
	}
	return list
}
