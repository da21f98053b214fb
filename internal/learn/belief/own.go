package belief

import (
	"fmt"
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
)

// Own is a model of answers whose noise, rate of lapses and width of ties, and of ratings the
// offset and scale, are each annotator's own and are learnt along with θ. Its posteriors are
// of type *Joint. With w_ak the weight of manner k of annotator a, an answer has the
// likelihood
//
//	p(y|u) = Σ_k w_ak p_k(y|u)
//
// and afterwards w_ak ∝ w_ak Z_k(y), Z_k(y) = ∫ p_k(y|u) N(u; m, v) du: one step of assumed
// density filtering in θ and in the manners. Fit is expectation propagation in both. While only
// one annotator has answered, the noise is that of the session's settings, because there the
// posterior is worse with unknown noise. Source: docs/methods.md, section 2.4.
type Own struct {
	of     Model
	always bool // the noise is unknown for one annotator alone, too
	*manners
}

var (
	_ idrl.RewardModel   = Own{}
	_ posterior.Personal = Own{}
)

// Own returns the model of annotators around m for questions of a kind. ok is false where
// there is none: for likelihoods whose noise is not a number to vary ("gaussian" and
// "bernoulli").
func (m Model) Own(kind idrl.QueryKind) (out Own, ok bool) {
	g, ok := m.mannersOf(kind)
	return Own{of: m, manners: g}, ok
}

// Always returns o for statements of regret: the noise of one annotator alone is unknown, too.
func (o Own) Always() Own {
	o.always = true
	return o
}

// Of returns the model that o was made around.
func (o Own) Of() Model { return o.of }

// told reports whether the noise of who is that of the session's settings, because no other
// annotator has answered.
func (o Own) told(j *Joint, who idrl.AnnotatorID) bool {
	return !o.always && (len(j.people) == 0 || len(j.people) == 1 && j.people[0].id == who)
}

// likelihood returns the likelihood of the answer of who to q under j.
func (o Own) likelihood(j *Joint, who idrl.AnnotatorID, q idrl.Query) idrl.Likelihood {
	if o.told(j, who) {
		return o.of.Likelihood(q)
	}
	return o.answersOf(o.person(j, who))
}

// Prior returns the belief before the first answer.
func (o Own) Prior() idrl.Posterior { return &Joint{theta: o.of.Start} }

// person returns how annotator id answers under j.
func (o Own) person(j *Joint, id idrl.AnnotatorID) person {
	if i, known := j.find(id); known {
		return j.people[i]
	}
	return o.stranger(id, len(j.people)+1)
}

// stranger returns an annotator without answers, as one of that many people.
func (o Own) stranger(id idrl.AnnotatorID, people int) person {
	logs := o.strangers[0]
	if people >= fewest {
		logs = o.strangers[1]
	}
	return person{id: id, logs: logs, offsetVar: o.offsetVar}
}

// Condition returns the belief after answer a to q, by one step of assumed density filtering;
// p is unchanged. An answer that is not informative leaves the belief as it is. It returns
// errors as Model.Condition does.
func (o Own) Condition(p idrl.Posterior, q idrl.QueryVector, a idrl.Answer) (idrl.Posterior, error) {
	j, ok := p.(*Joint)
	if !ok {
		return nil, fmt.Errorf("belief: update of a %T by a model of annotators", p)
	}
	if err := o.of.fits(j.theta, q, a); err != nil || !a.Informative() {
		return j, err
	}
	who := o.person(j, a.Annotator)
	if o.told(j, a.Annotator) {
		g, err := o.of.Condition(j.theta, q, a)
		if err != nil {
			return nil, err
		}
		return j.with(g.(*Gaussian), who), nil
	}
	w := o.work()
	defer o.works.Put(w)
	r, g, logs := w.reading, j.theta, who.wide(w.logs)
	for _, seen := range observations(nil, &q, &a) {
		m, v := idrl.Moments(g, seen.query.X, g.mean, w.sx)
		if !finite(m, v) || !o.read(r, seen, o.all, m, v, who.offset, who.offsetVar) {
			return nil, beyond(a, m, v)
		}
		push := o.mix(r, o.all, weightsOf(w.weights, logs))
		if !push.possible() {
			return nil, beyond(a, m, v)
		}
		o.learn(logs, r)
		who.offset += who.offsetVar * push.offset1
		who.offsetVar += who.offsetVar * who.offsetVar * push.offset2
		g = g.Condition(seen.query.X, push.d1, -push.d2)
	}
	who.logs, who.kept = rounded(logs), &keptBlend{}
	return j.with(g, who), nil
}

// learn adds the log probabilities of an answer, which was read under all bases, to the log weights of the manners.
func (g *manners) learn(logs []float64, r *reading) {
	c := lapsed(r.alike)
	for _, i := range g.all {
		lapsesOf(logs, i).learn(&c, r.meant[i])
	}
	for k := g.firstRandom(); k < len(logs); k++ {
		logs[k] += math.Log(g.randomly(k, r.alike, r.decided))
	}
}

// weightsOf stores exp(logs) in dst, scaled so that the greatest is 1, and returns it. It shifts
// logs.
func weightsOf(dst, logs []float64) []float64 {
	level(logs)
	for k, l := range logs {
		dst[k] = math.Exp(l)
	}
	return dst
}

// A work is memory of Condition.
type work struct {
	reading       *reading
	logs, weights []float64 // of the manners
	sx            []float64 // of length d
}

// work returns memory for Condition, which returns it to the pool.
func (o Own) work() *work {
	if w, ok := o.works.Get().(*work); ok {
		return w
	}
	n := len(o.list)
	return &work{reading: o.newReading(), logs: make([]float64, n), weights: make([]float64, n), sx: make([]float64, o.of.Start.Dim())}
}

// beyond is the error of an answer that was predicted with mean m and variance v, from which nothing can be computed.
func beyond(a idrl.Answer, m, v float64) error {
	return fmt.Errorf("belief: answer %q: the prediction, mean %.3g and variance %.3g, is too large to compute with; "+
		"scale the features of clips to about 1, or make prior_var smaller", a.Choice, m, v)
}

// Groups returns nil: answers to groups share one noise.
func (o Own) Groups() idrl.GroupLikelihood { return nil }

// Likelihood returns the likelihood of the answer to q of an annotator without answers.
func (o Own) Likelihood(q idrl.Query) idrl.Likelihood {
	return o.blend(o.stranger("", 1))
}

// ConditionOnPending implements idrl.RewardModel, for questions that are open with annotators
// without answers.
func (o Own) ConditionOnPending(p idrl.Posterior, qs ...idrl.QueryVector) idrl.Posterior {
	return Model{Start: o.of.Start, Comparison: o.Likelihood(idrl.Query{}), Rating: o.Likelihood(idrl.Query{})}.ConditionOnPending(theta(p), qs...)
}

// theta returns the belief about θ of a posterior of an Own model.
func theta(p idrl.Posterior) *Gaussian {
	if j, ok := p.(*Joint); ok {
		return j.theta
	}
	return p.(*Gaussian)
}

// Asking implements posterior.Personal.
func (o Own) Asking(p idrl.Posterior, who idrl.AnnotatorID) idrl.RewardModel {
	j := p.(*Joint)
	if o.told(j, who) {
		return asking{o, nil}
	}
	return asking{o, o.answersOf(o.person(j, who))}
}

// ConditionOnPendingWith implements posterior.Personal.
func (o Own) ConditionOnPendingWith(p idrl.Posterior, qs []idrl.QueryVector, with []idrl.AnnotatorID) idrl.Posterior {
	j := p.(*Joint)
	if len(qs) == 0 {
		return j
	}
	out, sx := j.theta.clone(), make([]float64, j.Dim())
	of := map[idrl.AnnotatorID]idrl.Likelihood{}
	for i, q := range qs {
		l, known := of[with[i]]
		if !known {
			l = o.likelihood(j, with[i], q.Query)
			of[with[i]] = l
		}
		mean, v := idrl.Moments(out, q.X, out.mean, sx) // leaves Σx in sx
		out.shift(q.X, sx, 0, l.Info(mean, v))
	}
	return out
}

// asking is an Own model for questions to one annotator.
type asking struct {
	Own
	of idrl.Likelihood // nil if the noise is that of the session's settings
}

// Likelihood returns the likelihood of the annotator's answer to q.
func (a asking) Likelihood(q idrl.Query) idrl.Likelihood {
	if a.of == nil {
		return a.Own.of.Likelihood(q)
	}
	return a.of
}
