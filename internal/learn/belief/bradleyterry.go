package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// BradleyTerry is the likelihood of a comparison by a logistic of rationality
// Beta, with APReL's weak comparisons as ties (docs/methods.md, section 2.1,
// whose δ is Beta·TieWidth). With σ(x) = 1/(1 + exp(−x)):
//
//	P(a|u)     = σ(Beta (u − TieWidth))
//	P(b|u)     = σ(Beta (−u − TieWidth))
//	P(equal|u) = (exp(2 Beta TieWidth) − 1) P(a|u) P(b|u)
//
// The three add up to one. As with Probit, an annotator at u = ±TieWidth calls one clip
// better with probability ½. If TieWidth is 0, 'equal' has probability 0, and its
// derivatives are those of the limit.
//
// Beta = √(8/π)/s = 1.596/s makes the logistic as steep at zero as a probit whose
// standard deviation is s.
type BradleyTerry struct {
	Beta     float64 // > 0, log-odds by unit of θ·x
	TieWidth float64 // half-width of 'equal' ≥ 0, in units of θ·x
}

var _ idrl.Likelihood = BradleyTerry{}

// LogZ returns log Z of answer a and its first two derivatives in m, by
// quadrature with a relative error below 1e-9. It panics if a is not an
// informative answer to a comparison.
func (b BradleyTerry) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	s := steps{beta: min(b.Beta, steepest/math.Sqrt(v)), width: b.TieWidth}
	switch a.Choice {
	case idrl.ChoseA:
		return s.integrate(m, v)
	case idrl.ChoseB:
		logZ, d1, d2 = s.integrate(-m, v)
		return logZ, -d1, d2
	case idrl.Equal:
		s.tie = true
		logZ, d1, d2 = s.integrate(m, v)
		return min(0, logZ+math.Log(-math.Expm1(-2*s.beta*s.width))), d1, d2
	default:
		panic("belief: the answer does not answer a comparison")
	}
}

// Info returns w = Σ_y Z(y) (∂ log Z(y)/∂m)² over the answers. Without ties Z(b) =
// 1 − Z(a), so that it is Z (∂ log Z/∂m)²/(1 − Z) of the less probable answer.
func (b BradleyTerry) Info(m, v float64) float64 {
	if b.TieWidth == 0 {
		logZ, d1, _ := b.LogZ(idrl.Answer{Choice: idrl.ChoseA}, -math.Abs(m), v)
		return math.Exp(logZ) * d1 * d1 / -math.Expm1(logZ)
	}
	var w float64
	for _, c := range [...]idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal} {
		logZ, d1, _ := b.LogZ(idrl.Answer{Choice: c}, m, v)
		w += math.Exp(logZ) * d1 * d1
	}
	return w
}

// MostInfo returns 1/(v + 3/Beta²), an upper bound of Info(m, v). The annotator compares
// u + ε with a band around zero, where ε is logistic, with the Fisher information Beta²/3
// about its location. The information of u + ε itself about m is bounded by Stam's
// inequality: the reciprocals of the Fisher informations of two independent variables add
// up to at most the reciprocal of that of their sum.
func (b BradleyTerry) MostInfo(v float64) float64 { return 1 / (v + 3/(b.Beta*b.Beta)) }

// steps is the function σ(beta (u − width)) of u, or, of a tie, its product with
// σ(beta (−u − width)) exp(2 beta width), which is at most 1 too. It is
// log-concave.
type steps struct {
	beta, width float64
	tie         bool
}

// at returns the factors exp(l) and f of s at u, and the first two derivatives of
// the logarithm of s.
func (s steps) at(u float64) (l, f, l1, l2 float64) {
	x := s.beta * (u - s.width)
	f, l1, l2 = logistic(x)
	if !s.tie {
		return min(x, 0), f, s.beta * l1, s.beta * s.beta * l2
	}
	g, k1, k2 := logistic(s.beta * (-u - s.width))
	return -max(0, s.beta*(math.Abs(u)-s.width)), f * g, s.beta * (l1 - k1), s.beta * s.beta * (l2 + k2)
}

// logistic returns σ(x) exp(−min(x, 0)) and the first two derivatives of log σ(x),
// σ(−x) and −σ(x)σ(−x).
func logistic(x float64) (f, l1, l2 float64) {
	e := math.Exp(-math.Abs(x))
	f = 1 / (1 + e)
	l1 = f
	if x >= 0 {
		l1 = e * f
	}
	return f, l1, -e * f * f
}

// integrate returns log E[s(u)] for u ~ N(m, v) and its first two derivatives in
// m. With t = (u − m)/√v, and E and Var under the density in proportion to
// N(t; 0, 1)·s(u), the first is E[(log s)'], and the second is
//
//	E[(log s)''] + Var[(log s)'] = (Var[t] − 1)/v
//
// of which the left loses its digits where s is steep beside √v, and the right
// where it is flat.
func (s steps) integrate(m, v float64) (logZ, d1, d2 float64) {
	if v == 0 {
		l, f, l1, l2 := s.at(m)
		return l + math.Log(f), l1, l2
	}
	r := math.Sqrt(v)
	in := integral{steps: s, m: m, r: r, mode: s.mode(m, r)}
	in.top, _, in.slope, _ = s.at(m + r*in.mode)
	if s.beta*r <= gentle {
		in.evenly()
	} else {
		in.panels()
	}
	sum := in.sum
	logZ = math.Log(sum.one) + in.top - 0.5*in.mode*in.mode - halfLog2Pi
	bend, rise := sum.bend/sum.one, sum.rise/sum.one
	d2 = bend + sum.rise2/sum.one - rise*rise
	if s.beta*r > 1 {
		shift := sum.t / sum.one
		d2 = (sum.t2/sum.one - shift*shift - 1) / v
	}
	return min(0, logZ), in.slope + rise, min(0, d2)
}

// An integral has the sums of integrate over N(t; 0, 1)·s(m + rt), relative to its height at
// the mode.
type integral struct {
	steps
	m, r, mode float64
	top, slope float64 // log s and its derivative at the mode
	sum        moments5
}

// add adds a node at t of weight w.
func (in *integral) add(t, w float64) {
	l, f, l1, l2 := in.at(in.m + in.r*t)
	e := t - in.mode
	in.sum.add(w*f*math.Exp(l-in.top-0.5*e*(t+in.mode)), e, l1-in.slope, l2)
}

// gentle is the steepness, by standard deviation of u, up to which evenly takes
// fewer nodes than panels.
const gentle = 3

// evenly sums by the trapezoidal rule (Trefethen and Weideman, "The exponentially
// convergent trapezoidal rule", 2014). With stride h its error is some
// exp(−2πp/h + p²/2) by the poles of s, which lie p = π/(beta r) off the axis, and
// exp(−2π²/h²) by the normal density. The stride makes the exponents −36.
func (in *integral) evenly() {
	const deep = 36
	h := 0.74 // π √(2/deep)
	if p := math.Pi / (in.beta * in.r); p*p < 2*deep {
		h = 2 * math.Pi * p / (deep + p*p/2)
	}
	n := math.Ceil(reach / h)
	for k := -n; k <= n; k++ {
		in.add(in.mode+k*h, h)
	}
}

// panels sums by the rule coarse over panels as wide as s allows.
func (in *integral) panels() {
	for a, end := in.mode-reach, in.mode+reach; a < end; {
		b := min(end, a+in.panel(a, in.m, in.r))
		for k, node := range coarse.x {
			in.add(a+(b-a)*node, (b-a)*coarse.w[k])
		}
		a = b
	}
}

// reach is how far from its mode the integrand is followed: beyond, it is below
// exp(−40) of its height, because it falls faster than a normal density.
const reach = 9

// steepest is the largest steepness, per standard deviation of u, that is computed with.
// Steeper steps differ by less than 1e-10.
const steepest = 1e7

// moments5 gathers integrals under a density.
type moments5 struct{ one, t, t2, rise, rise2, bend float64 }

// add adds a node of weight w.
func (s *moments5) add(w, t, rise, bend float64) {
	s.one += w
	s.t += w * t
	s.t2 += w * t * t
	s.rise += w * rise
	s.rise2 += w * rise * rise
	s.bend += w * bend
}

// mode returns the t at which N(t; 0, 1)·s(m + rt) is greatest, so closely that the logarithm
// of its height there is within 0.1 of the greatest.
func (s steps) mode(m, r float64) float64 {
	lo, hi := -s.beta*r, s.beta*r
	for k := 0; k < 100 && hi-lo > 0.1/(1+s.beta*r); k++ {
		t := lo + (hi-lo)/2
		if _, _, l1, _ := s.at(m + r*t); r*l1 > t {
			lo = t
		} else {
			hi = t
		}
	}
	return lo + (hi-lo)/2
}

// panel returns the width in t, from a on, over which the rule coarse integrates
// N(t; 0, 1)·s(m + rt) to rounding. The steps have poles at a distance of π/beta
// from their middles, so that the width is bounded there and grows with the
// distance.
func (s steps) panel(a, m, r float64) float64 {
	const widest, near = 4.5, 5
	narrow := near / (s.beta * r)
	if narrow >= widest {
		return widest
	}
	behind, ahead := math.Inf(1), math.Inf(1) // distances to the next middles
	for _, middle := range [...]float64{-s.width, s.width} {
		if d := (middle-m)/r - a; d > 0 {
			ahead = min(ahead, d)
		} else {
			behind = min(behind, -d)
		}
	}
	return min(widest, max(narrow, 1e-14*math.Abs(a), min(behind, ahead/2)))
}
