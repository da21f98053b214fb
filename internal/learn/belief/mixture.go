package belief

import (
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Mixture is the belief that θ has one of several Gaussian distributions: those under
// the assumptions of an Averaged model. It is immutable.
type Mixture struct {
	parts []part // at least one, in the order of the assumptions; weights add up to one
}

var _ idrl.Posterior = (*Mixture)(nil)

// A part is the belief under one assumption.
type part struct {
	assumption int // index
	weight     float64
	belief     *Gaussian
}

// Dim returns d.
func (x *Mixture) Dim() int { return x.parts[0].belief.Dim() }

// Mean stores E[θ] in dst and returns it, under the rules of Gaussian.Mean.
func (x *Mixture) Mean(dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, x.Dim())
	}
	x.parts[0].belief.check(dst)
	clear(dst)
	for _, p := range x.parts {
		floats.AddScaled(dst, p.weight, p.belief.mean)
	}
	return dst
}

// CovMul stores Σv in dst, where Σ is the covariance of θ: the mean of those of the
// parts, and the covariance of their means. dst and v must have length d and not
// overlap.
func (x *Mixture) CovMul(dst, v []float64) {
	x.parts[0].belief.check(dst)
	work, mean := make([]float64, len(v)), x.Mean(nil)
	clear(dst)
	for _, p := range x.parts {
		p.belief.CovMul(work, v)
		floats.AddScaled(dst, p.weight, work)
		floats.SubTo(work, p.belief.mean, mean)
		floats.AddScaled(dst, p.weight*floats.Dot(work, v), work)
	}
}

// Sample stores a draw of θ in dst and returns it, under the rules of Gaussian.Sample.
func (x *Mixture) Sample(dst []float64, rng *rand.Rand) []float64 {
	if dst == nil {
		dst = make([]float64, x.Dim())
	}
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
	return x.SampleFrom(dst, dst)
}

// SampleFrom stores the draw of θ for independent standard normal numbers z in dst and
// returns it, under the rules of Gaussian.SampleFrom. u = Φ(z₁) is uniform. [0, 1) is
// divided among the parts by their weights, and the part that contains u is drawn from. The
// relative position of u in it is uniform again; its normal quantile replaces z₁.
func (x *Mixture) SampleFrom(dst, z []float64) []float64 {
	if dst == nil {
		dst = make([]float64, x.Dim())
	}
	copy(dst, z)
	if len(x.parts) == 1 {
		return x.parts[0].belief.SampleFrom(dst, dst)
	}
	const edge = 1e-15 // beyond it rounding would make the quantile infinite
	u, i := distuv.UnitNormal.CDF(z[0]), 0
	for ; i < len(x.parts)-1 && u >= x.parts[i].weight; i++ {
		u -= x.parts[i].weight
	}
	dst[0] = distuv.UnitNormal.Quantile(min(1-edge, max(edge, u/x.parts[i].weight)))
	return x.parts[i].belief.SampleFrom(dst, dst)
}

// clone returns a copy of x whose parts are not shared yet.
func (x *Mixture) clone() *Mixture {
	out := &Mixture{parts: slices.Clone(x.parts)}
	for i, p := range out.parts {
		out.parts[i].belief = p.belief.clone()
	}
	return out
}

// weigh sets the weights of x, which is not shared, given their logarithms up to a constant,
// and drops the parts that are faint.
func (x *Mixture) weigh(logs []float64) {
	top, sum, kept := floats.Max(logs), 0.0, x.parts[:0]
	for i, p := range x.parts {
		if p.weight = math.Exp(logs[i] - top); p.weight >= faint {
			kept, sum = append(kept, p), sum+p.weight
		}
	}
	for i := range kept {
		kept[i].weight /= sum
	}
	x.parts = kept
}

// thin returns a mixture of at most n parts that approximates x, by systematic resampling:
// [0, 1) is divided into n equal shares, and each is given to the part of x that contains
// its middle.
func (x *Mixture) thin(n int) *Mixture {
	out, before, taken := &Mixture{}, 0.0, 0
	for i, p := range x.parts {
		before += p.weight
		upTo := int(math.Ceil(before*float64(n) - 0.5)) // middles below before
		if i == len(x.parts)-1 {
			upTo = n
		}
		if upTo = min(n, upTo); upTo > taken {
			p.weight = float64(upTo-taken) / float64(n)
			out.parts, taken = append(out.parts, p), upTo
		}
	}
	return out
}
