package belief

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// Raters is the reward model of ratings by annotators who use the scale in ways of
// their own: annotator a rates u as
//
//	y = o_a + k_a u + ε
//
// with an unknown offset o_a ~ N(0, OffsetVar) and a known scale k_a. The offsets
// stand beside θ in one Gaussian, and a rating speaks of [k_a x; e_a]: no new
// update, and variation explained by an unknown offset does not reduce the
// uncertainty of θ. A comparison is free of offsets. An annotator appears with the
// first rating.
// Source: docs/methods.md, section 2.1, row rating of one clip.
type Raters struct {
	Of        Model                        // prior of θ and the likelihoods given o_a + k_a u; required
	OffsetVar float64                      // prior variance of an offset, > 0
	Scales    map[idrl.AnnotatorID]float64 // k_a > 0; an annotator who is not in it has 1
}

// RatersBelief is the belief of Raters. As an idrl.Posterior it is that of θ
// alone. It is immutable.
type RatersBelief struct {
	theta      *Gaussian // of the d weights
	joint      *Gaussian // of the weights, then one offset an annotator
	annotators []idrl.AnnotatorID
}

var (
	_ idrl.RewardModel = Raters{}
	_ idrl.Posterior   = (*RatersBelief)(nil)
)

// Dim returns d.
func (b *RatersBelief) Dim() int { return b.theta.Dim() }

// Mean stores E[θ] in dst and returns it, under the rules of idrl.Posterior.
func (b *RatersBelief) Mean(dst []float64) []float64 { return b.theta.Mean(dst) }

// CovMul stores Σx in dst, where Σ is the covariance of θ.
func (b *RatersBelief) CovMul(dst, x []float64) { b.theta.CovMul(dst, x) }

// Sample stores a draw of θ in dst and returns it, under the rules of Mean.
func (b *RatersBelief) Sample(dst []float64, rng *rand.Rand) []float64 {
	return b.theta.Sample(dst, rng)
}

// SampleFrom stores the draw of θ that z stands for in dst and returns it, under the
// rules of idrl.Posterior.
func (b *RatersBelief) SampleFrom(dst, z []float64) []float64 { return b.theta.SampleFrom(dst, z) }

// Offset returns the mean and variance of an annotator's offset. ok is false if the
// annotator has not rated yet.
func (b *RatersBelief) Offset(a idrl.AnnotatorID) (mean, variance float64, ok bool) {
	i := slices.Index(b.annotators, a)
	if i < 0 {
		return 0, 0, false
	}
	at := b.Dim() + i
	return b.joint.mean[at], b.joint.cov[at*b.joint.Dim()+at], true
}

// newRatersBelief returns the belief whose joint Gaussian is given.
func newRatersBelief(d int, joint *Gaussian, annotators []idrl.AnnotatorID) *RatersBelief {
	theta := blank(d)
	copy(theta.mean, joint.mean)
	for i := range d {
		copy(theta.cov[i*d:(i+1)*d], joint.cov[i*joint.Dim():])
	}
	return &RatersBelief{theta: theta, joint: joint, annotators: annotators}
}

// Prior returns the belief before the first answer.
func (r Raters) Prior() idrl.Posterior { return &RatersBelief{theta: r.Of.Start, joint: r.Of.Start} }

// Likelihood returns the model of the answer to q. A rating is that of an
// annotator of scale 1 who has not rated before.
func (r Raters) Likelihood(q idrl.Query) idrl.Likelihood {
	if q.Kind.Comparison() {
		return r.Of.Comparison
	}
	return newcomer{of: r.Of.Rating, offsetVar: r.OffsetVar}
}

// Update returns the belief after answer a to q; p is unchanged. It returns errors
// as Model.Update does, and one of kind Invalid if the scale of the annotator or
// OffsetVar is not positive.
func (r Raters) Update(p idrl.Posterior, q idrl.Query, a idrl.Answer) (idrl.Posterior, error) {
	b, ok := p.(*RatersBelief)
	if !ok {
		return nil, fmt.Errorf("belief: raters' update of a %T", p)
	}
	next, _, err := r.step(b, q, a)
	if err != nil {
		return nil, err
	}
	return next, nil
}

// Anticipate implements idrl.RewardModel, for comparisons by anybody and ratings by
// somebody who has not rated before. It panics if p is not a *RatersBelief or a
// query does not fit it.
func (r Raters) Anticipate(p idrl.Posterior, qs ...idrl.Query) idrl.Posterior {
	b := p.(*RatersBelief)
	if len(qs) == 0 {
		return b
	}
	joint := b.joint
	for _, q := range qs {
		b.theta.check(q.X)
		x := pad(q.X, joint.Dim())
		m, v := joint.moments(x)
		joint = joint.Observe(x, 0, r.Likelihood(q).Info(m, v))
	}
	return newRatersBelief(b.Dim(), joint, b.annotators)
}

// step is Update, and returns log Z of the answer too; 0 if it is not
// informative.
func (r Raters) step(b *RatersBelief, q idrl.Query, a idrl.Answer) (next *RatersBelief, logZ float64, err error) {
	if err := r.Of.fits(b.theta, q, a); err != nil {
		return nil, 0, err
	}
	if !a.Informative() {
		return b, 0, nil
	}
	joint, annotators := b.joint, b.annotators
	x := slices.Clone(q.X)
	if a.Choice == idrl.Rated {
		k, err := r.scale(a.Annotator)
		if err != nil {
			return nil, 0, err
		}
		floats.Scale(k, x)
		joint, annotators = b.with(a.Annotator, r.OffsetVar)
	}
	q.X = pad(x, joint.Dim())
	if a.Choice == idrl.Rated {
		q.X[b.Dim()+slices.Index(annotators, a.Annotator)] = 1
	}
	joint, logZ, err = r.Of.step(joint, q, a)
	if err != nil {
		return nil, 0, err
	}
	return newRatersBelief(b.Dim(), joint, annotators), logZ, nil
}

// scale returns k of an annotator, or an error of kind Invalid.
func (r Raters) scale(a idrl.AnnotatorID) (float64, error) {
	k, ok := r.Scales[a]
	if !ok {
		k = 1
	}
	if !(k > 0) || !finite(k) {
		return 0, idrl.Errorf(idrl.Invalid, "the scale of annotator %s must be a positive number; got %v", a, k)
	}
	if !(r.OffsetVar > 0) || !finite(r.OffsetVar) {
		return 0, idrl.Errorf(idrl.Invalid, "the variance of the annotators' offsets must be a positive number; got %v", r.OffsetVar)
	}
	return k, nil
}

// with returns the joint Gaussian and annotators of b in which a has an offset.
func (b *RatersBelief) with(a idrl.AnnotatorID, offsetVar float64) (*Gaussian, []idrl.AnnotatorID) {
	if slices.Contains(b.annotators, a) {
		return b.joint, b.annotators
	}
	n := b.joint.Dim()
	g := blank(n + 1)
	copy(g.mean, b.joint.mean)
	for i := range n {
		copy(g.cov[i*(n+1):], b.joint.cov[i*n:(i+1)*n])
	}
	g.cov[len(g.cov)-1] = offsetVar
	return g, append(slices.Clone(b.annotators), a)
}

// pad returns x with zeros behind it, up to length n.
func pad(x []float64, n int) []float64 {
	out := make([]float64, n)
	copy(out, x)
	return out
}

// newcomer is the likelihood of a rating u + o + ε, whose offset o ~ N(0,
// offsetVar) nothing is known of.
type newcomer struct {
	of        idrl.Likelihood
	offsetVar float64
}

func (n newcomer) LogZ(a idrl.Answer, m, v float64) (logZ, d1, d2 float64) {
	return n.of.LogZ(a, m, v+n.offsetVar)
}

func (n newcomer) Info(m, v float64) float64 { return n.of.Info(m, v+n.offsetVar) }
