package belief

import (
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// BestWorst is the likelihood of the answer to a group of n clips. The annotator sees each
// clip as good as r + ε, with r = θ·Φ its reward and ε ~ N(0, NoiseStd²/2) of its own, and
// names the best and the worst of these values. So two clips compare as in Probit without ties
// and with the same NoiseStd. With the probability Lapse the whole answer is one of the
// n(n − 1) ordered pairs of clips at random:
//
//	p(best, worst|θ) = Lapse/(n(n − 1)) + (1 − Lapse) P(r_best + ε_best ≥ r_i + ε_i ≥ r_worst + ε_worst for all others i)
//
// Under u ~ N(m, V) the probability is that of a polyhedral cone under a normal distribution in
// n − 1 dimensions. It and its derivatives are sums over a fixed lattice (cone), so that they
// are smooth in m and V, and the same on every call. Source: docs/methods.md, section 2.7.
type BestWorst struct {
	NoiseStd float64 // s > 0, in units of θ·x
	Lapse    float64 // in [0, 1)
}

// GroupLapse is the rate of lapses that sessions assume for answers to groups. An answer rules
// out most orders of six clips, so that without lapses one mistake would outweigh many answers.
const GroupLapse = 0.05

var _ idrl.GroupLikelihood = BestWorst{}

// LogZ implements idrl.GroupLikelihood. It panics if best or worst is no place of a clip, or
// they are the same.
func (b BestWorst) LogZ(best, worst int, m []float64, v *mat.SymDense) (logZ float64, d1 []float64, d2 *mat.SymDense) {
	return b.logZ(best, worst, m, v, fineLattice)
}

func (b BestWorst) logZ(best, worst int, m []float64, v *mat.SymDense, by lattice) (logZ float64, d1 []float64, d2 *mat.SymDense) {
	n := len(m) + 1
	if best == worst || min(best, worst) < 0 || max(best, worst) >= n {
		panic("belief: the best and the worst of a group must be two of its clips")
	}
	logZ, d1, d2 = newCone(best, worst, m, v, b.NoiseStd).solve(by)
	if b.Lapse == 0 {
		return logZ, d1, d2
	}
	lapse, meant := math.Log(b.Lapse/float64(n*(n-1))), logZ+math.Log1p(-b.Lapse)
	if math.IsInf(meant, -1) { // it cannot be computed, and counts as a lapse
		clear(d1)
		d2.Zero()
		return lapse, d1, d2
	}
	top := max(lapse, meant)
	logZ = top + math.Log(math.Exp(lapse-top)+math.Exp(meant-top))
	rho := math.Exp(meant - logZ) // the probability that the answer was meant
	for i := range d1 {
		for j := range i + 1 {
			d2.SetSym(i, j, rho*d2.At(i, j)-rho*(1-rho)*d1[i]*d1[j])
		}
	}
	for i := range d1 {
		d1[i] *= rho
	}
	return logZ, d1, d2
}

// Info implements idrl.GroupLikelihood. The probabilities of the answers, which are sums over a
// lattice, are divided by their sum.
func (b BestWorst) Info(m []float64, v *mat.SymDense) *mat.SymDense { return b.info(m, v, sumLattice) }

// RoughInfo implements idrl.GroupLikelihood.
func (b BestWorst) RoughInfo(m []float64, v *mat.SymDense) *mat.SymDense {
	return b.info(m, v, roughLattice)
}

func (b BestWorst) info(m []float64, v *mat.SymDense, by lattice) *mat.SymDense {
	n, sum := len(m)+1, 0.0
	w := mat.NewSymDense(n-1, nil)
	b.each(m, v, by, func(_, _ int, z float64, d1 []float64) {
		w.SymRankOne(w, z, mat.NewVecDense(n-1, d1))
		sum += z
	})
	w.ScaleSym(1/sum, w)
	return w
}

// Picks implements idrl.GroupLikelihood. The probabilities are sums of those of the answers,
// divided by their sum.
func (b BestWorst) Picks(m []float64, v *mat.SymDense) (best, worst []float64) {
	best, worst = make([]float64, len(m)+1), make([]float64, len(m)+1)
	b.each(m, v, sumLattice, func(i, j int, z float64, _ []float64) {
		best[i] += z
		worst[j] += z
	})
	floats.Scale(1/floats.Sum(best), best)
	floats.Scale(1/floats.Sum(worst), worst)
	return best, worst
}

// each calls yield with the probability z of every answer and its gradient d1.
func (b BestWorst) each(m []float64, v *mat.SymDense, by lattice, yield func(best, worst int, z float64, d1 []float64)) {
	for best := range len(m) + 1 {
		for worst := range len(m) + 1 {
			if best != worst {
				logZ, d1, _ := b.logZ(best, worst, m, v, by)
				yield(best, worst, math.Exp(logZ), d1)
			}
		}
	}
}
