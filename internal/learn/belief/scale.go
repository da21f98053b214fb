package belief

import (
	"math"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// Expectation propagation approximates θ and the manners of annotators as independent. They are not: if all
// rewards and all noises are multiplied by one factor, the answers are about as probable. So the belief by the
// factors is too narrow along the mean of θ, and too certain about the manners. With the scale 1 + t as a
// further variable, θ = (1 + t) μ + ε with ε independent of t, the posterior of t is a sum over all manners of
// each annotator:
//
//	p(t) ∝ N(t; 0, 1/μᵀΛμ) Π_a Σ_k p(k) Π_i z_ik(t) / Π_i ĝ_i(t)
//
// Given t, and without answer i, u_i is normal; z_ik(t) is then the probability of the answer under manner k,
// ĝ_i(t) the integral of the Gaussian factor of the answer, and Λ is the precision that the
// factors make. Source: docs/methods.md, section 2.4.

// The points of t, in standard deviations of t by the factors.
const (
	scaleStep  = 1.5
	scaleReach = 4 // steps
	scaleNodes = 2*scaleReach + 1
)

// leastScaled is the least weight of a base that is summed over.
const leastScaled = 1e-5

// leastPrecision is the least μᵀΛμ for which the scale is measured: μ is then three standard deviations from 0.
const leastPrecision = 9

// A scaling is the sum over the manners at all points of t.
type scaling struct {
	t      [scaleNodes]float64
	logs   [scaleNodes]float64 // of p(t)
	people []scaledPerson
}

// A scaledPerson is the sum over the manners of an annotator.
type scaledPerson struct {
	bases   []int
	tops    [scaleNodes]float64 // logarithms of what weights were divided by
	weights []float64           // of the manners of the bases and of those who click at random, by point of t
	answers int                 // since the weights were divided last
}

// widened returns the belief by the factors, with the measured variance along its mean.
func (f *joining) widened() *Gaussian {
	precision := f.alongMean()
	if f.ratio == 1 || !hasScale(precision) {
		return f.theta
	}
	out := f.theta.clone()
	out.widen(f.theta.mean, (f.ratio-1)/precision)
	return out
}

// hasScale reports whether θ has a scale, where precision is μᵀΛμ.
func hasScale(precision float64) bool {
	return precision > leastPrecision && !math.IsInf(precision, 1)
}

// measure sets f.ratio to the posterior variance of t, as a multiple of that by the factors, and rescales the
// factors so that the mean of t is 0.
func (f *joining) measure(report *idrl.FitReport) {
	f.ratio, f.measured = 1, len(f.sites)
	for i := range f.people {
		f.people[i].spread = nil
	}
	precision := f.alongMean()
	if !hasScale(precision) {
		return
	}
	s := f.newScaling(1 / math.Sqrt(precision))
	for i := range f.sites {
		if !s.take(f, i, 1/precision) {
			return
		}
	}
	for i := range s.people {
		s.people[i].sum(&s.logs)
	}
	total := floats.LogSumExp(s.logs[:])
	mean, variance := 0.0, 0.0
	for n, t := range s.t {
		s.logs[n] = math.Exp(s.logs[n] - total)
		mean += s.logs[n] * t
	}
	for n, t := range s.t {
		variance += s.logs[n] * square(t-mean)
	}
	if mean = max(-mostRescaled, min(mostRescaled, mean)); finite(mean, variance) {
		f.ratio = variance * precision / square(1+mean)
		for i := range f.people {
			f.people[i].spread = s.spread(f.manners, &s.people[i], &f.people[i])
		}
		f.rescale(1+mean, report)
	}
}

// spread returns the log weights of the manners of an annotator, averaged over t, less those of the fit, from.
// s.logs are the probabilities of the points.
func (s *scaling) spread(g *manners, p *scaledPerson, from *member) []float64 {
	n := len(p.weights) / scaleNodes
	average := make([]float64, n)
	for node, share := range s.logs {
		if share > 0 {
			weights := p.weights[node*n : (node+1)*n]
			floats.AddScaled(average, share/floats.Sum(weights), weights)
		}
	}
	out, sum := make([]float64, len(g.list)), floats.Sum(from.weights)
	up := func(k, j int) {
		out[k] = math.Log(max(average[j], leastWeight)) - math.Log(max(from.weights[k]/sum, leastWeight))
	}
	for j, b := range p.bases {
		for l := range ownLapses {
			up(b*len(ownLapses)+l, j*len(ownLapses)+l)
		}
	}
	for k, j := g.firstRandom(), len(p.bases)*len(ownLapses); k < len(out); k, j = k+1, j+1 {
		up(k, j)
	}
	return out
}

// rescale multiplies the mean of θ and the noise of all annotators by a factor.
func (f *joining) rescale(by float64, report *idrl.FitReport) {
	for i := range f.sites {
		s := &f.sites[i]
		s.tau /= by * by
		s.nu /= by
	}
	f.theta = product(f.from.theta, f.sites, report)
}

// mostRescaled bounds the mean of t that is made 0 at once.
const mostRescaled = 0.25

// newScaling returns the scaling before the answers, where std is the standard deviation of t.
func (f *joining) newScaling(std float64) *scaling {
	s := &scaling{people: make([]scaledPerson, len(f.people))}
	for n := range s.t {
		z := scaleStep * float64(n-scaleReach)
		if s.t[n], s.logs[n] = z*std, -z*z/2; s.t[n] <= -1 {
			s.logs[n] = math.Inf(-1)
		}
	}
	for i := range s.people {
		p, from := &s.people[i], &f.people[i]
		p.bases = from.basesAbove(leastScaled, f.manners)
		var prior []float64
		for _, b := range p.bases {
			prior = append(prior, lapsesOf(from.prior, b)[:]...)
		}
		prior = append(prior, from.prior[f.firstRandom():]...)
		for k, log := range prior {
			prior[k] = math.Exp(log)
		}
		p.weights = slices.Repeat(prior, scaleNodes)
	}
	return s
}

// take takes in answer i. It returns false if its probability cannot be computed.
func (s *scaling) take(f *joining, i int, variance float64) bool {
	at, says := &f.sites[i], &f.says[i]
	p := &s.people[says.who]
	member := &f.people[says.who]
	mean, v := idrl.Moments(f.theta, at.query.X, f.theta.mean, f.sx)
	v = max(0, v-mean*mean*variance) // given t
	left := 1 - at.tau*v
	offset, offsetVar, ok := cavityOf(member.tau-says.tau, member.nu-says.nu, f.offsetVar > 0)
	if !(left > 0) || !ok || says.meant[0] == unread {
		return true
	}
	cv := v / left
	width, n := 1+at.tau*cv, len(p.weights)/scaleNodes
	for node, t := range s.t {
		if t <= -1 {
			continue
		}
		m := ((1+t)*mean - v*at.nu) / left
		if !finite(m, cv) || !f.Own.read(f.read, at.observation, p.bases, m, cv, offset, offsetVar) {
			return false
		}
		s.logs[node] -= (at.nu*m + at.nu*at.nu*cv/2 - at.tau*m*m/2) / width
		p.take(f, p.weights[node*n:(node+1)*n])
	}
	if p.answers++; p.answers == manyFactors {
		p.divide()
	}
	return true
}

// take multiplies weights with the probabilities of the answer that f has read.
func (p *scaledPerson) take(f *joining, weights []float64) {
	r, c := f.read, lapsed(f.read.alike)
	for j, b := range p.bases {
		lapsesOf(weights, j).times(&c, r.meant[b])
	}
	rest := weights[len(p.bases)*len(ownLapses):]
	for k := range rest {
		rest[k] *= f.randomly(f.firstRandom()+k, r.alike, r.decided)
	}
}

// divide divides the weights at each point of t by the greatest, so that a product over many answers does not
// underflow.
func (p *scaledPerson) divide() {
	n := len(p.weights) / scaleNodes
	for node := range p.tops {
		weights := p.weights[node*n : (node+1)*n]
		top := slices.Max(weights)
		p.tops[node] += math.Log(top)
		floats.Scale(1/top, weights)
	}
	p.answers = 0
}

// sum adds log Σ_k p(k) Π_i z_ik(t) to logs.
func (p *scaledPerson) sum(logs *[scaleNodes]float64) {
	n := len(p.weights) / scaleNodes
	for node := range logs {
		logs[node] += p.tops[node] + math.Log(floats.Sum(p.weights[node*n:(node+1)*n]))
	}
}

// alongMean returns μᵀΛμ by the factors.
func (f *joining) alongMean() (sum float64) {
	sum = f.from.theta.precisionOf(f.theta.mean)
	for i := range f.sites {
		s := &f.sites[i]
		u := floats.Dot(s.query.X, f.theta.mean)
		sum += s.tau * u * u
	}
	return sum
}
