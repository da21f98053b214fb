package belief

import (
	"math"

	"tiebreak/internal/idrl"
)

// Ordered is the likelihood of a comparison that also asks how much better a clip
// is (≪, <, ≈, >, ≫): an ordered probit. The annotator compares u + ε,
// ε ~ N(0, NoiseStd²), with the cuts τ₁ < τ₂ < … and their mirror images:
//
//	equal          |u + ε| < τ₁
//	a, strength k  τ_k < u + ε < τ_{k+1}, without an upper end for the last k
//	b, strength k  the mirror image
//
// An answer a or b of strength 0 was not asked for one, and says u + ε > τ₁ or
// u + ε < −τ₁: with one cut, Ordered is Probit. Source: docs/methods.md,
// section 2.1, row Likert strength.
type Ordered struct {
	NoiseStd float64   // > 0, in units of θ·x
	Cuts     []float64 // τ₁ < τ₂ < …, at least one, above 0, in units of θ·x
}

var (
	_ idrl.Likelihood = Ordered{}
	_ checker         = Ordered{}
)

// Validate returns an error of kind Invalid that says what to change.
func (o Ordered) Validate() error {
	if !(o.NoiseStd > 0) || !finite(o.NoiseStd) {
		return idrl.Errorf(idrl.Invalid, "the noise of an ordered comparison must be a positive number; got %v", o.NoiseStd)
	}
	if len(o.Cuts) == 0 {
		return idrl.Errorf(idrl.Invalid, "an ordered comparison needs at least one cut, the half-width of 'equal'")
	}
	last := 0.0
	for _, c := range o.Cuts {
		if !(c > last) || !finite(c) {
			return idrl.Errorf(idrl.Invalid, "the cuts of an ordered comparison must increase from above zero; got %v", o.Cuts)
		}
		last = c
	}
	return nil
}

// check returns an error of kind Invalid if a has a strength that o lacks.
func (o Ordered) check(a idrl.Answer) error {
	most := len(o.Cuts)
	if a.Choice == idrl.Equal {
		most = 0
	}
	if a.Strength < 0 || a.Strength > most {
		return idrl.Errorf(idrl.Invalid, "choice %q has strength %d; send 0 to %d", a.Choice, a.Strength, most)
	}
	return nil
}

// LogZ returns log Z of answer a and its first two derivatives in m. It panics
// if a is not an informative answer to a comparison or has a strength beyond the
// cuts.
func (o Ordered) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	r := math.Hypot(o.NoiseStd, math.Sqrt(v))
	var t truncated
	switch lo, hi := o.span(a.Strength); a.Choice {
	case idrl.ChoseA:
		t = cut((lo-m)/r, (hi-m)/r)
	case idrl.ChoseB:
		t = cut((-hi-m)/r, (-lo-m)/r)
	case idrl.Equal:
		t = cut((-o.Cuts[0]-m)/r, (o.Cuts[0]-m)/r)
	default:
		panic("belief: the answer does not answer a comparison")
	}
	return t.logZ, t.mean / r, -t.lost / (r * r)
}

// Info returns w = Σ_y Z(y) (∂ log Z(y)/∂m)² over 'equal' and both clips at every
// strength.
func (o Ordered) Info(m, v float64) float64 {
	logZ, d1, _ := o.LogZ(idrl.Answer{Choice: idrl.Equal}, m, v)
	w := math.Exp(logZ) * d1 * d1
	for k := range o.Cuts {
		for _, c := range [...]idrl.Choice{idrl.ChoseA, idrl.ChoseB} {
			logZ, d1, _ := o.LogZ(idrl.Answer{Choice: c, Strength: k + 1}, m, v)
			w += math.Exp(logZ) * d1 * d1
		}
	}
	return w
}

// span returns the ends of the interval of answer a at a strength.
func (o Ordered) span(strength int) (lo, hi float64) {
	if strength == 0 {
		return o.Cuts[0], math.Inf(1)
	}
	if strength == len(o.Cuts) {
		return o.Cuts[strength-1], math.Inf(1)
	}
	return o.Cuts[strength-1], o.Cuts[strength]
}
