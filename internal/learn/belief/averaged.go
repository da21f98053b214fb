package belief

import (
	"context"
	"fmt"
	"math"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// Averaged is a model of answers whose noise, rate of lapses and width of ties are not
// known. Its beliefs are mixtures of the beliefs under a grid of assumptions. The weight of
// an assumption is its evidence, the probability that it gave to each answer before it was
// observed:
//
//	log w = log prior + Σ_k log Z(a_k | a_1 … a_k−1)
//
// The noise is 1/8 to 4 times that of the model it is made from; the logarithm of the
// factor to base 2 has the prior N(0, 0.7²). An annotator who lapses, in 5, 10 or 20 % of
// the answers, has the probability 0.4. The width of ties is that of the model or 0.08 of
// it, and the threshold of much better is 1/2, 1 or 2 times that of the model, both in units
// of the noise and equally probable. Source: docs/methods.md, section 2.3.
type Averaged struct {
	start       *Gaussian
	assumptions []assumption
}

// An assumption is a point of the grid.
type assumption struct {
	model Model
	log   float64 // of its prior, up to a constant
}

// The grid.
var (
	noises = [...]float64{1. / 8, 1. / 4, 1. / 2, math.Sqrt2 / 2, 1, math.Sqrt2, 2, 4}
	lapses = [...]float64{0, 0.05, 0.1, 0.2}
	widths = [...]float64{0.08, 1}
	muches = [...]float64{0.5, 1, 2}
)

const (
	priorOctaves = 0.7 // standard deviation of the logarithm of the noise to base 2
	priorLapses  = 0.4 // probability of a rate of lapses above 0

	// widest is the largest number of weights d with an average: the work grows with d², and
	// that of a statement of regret with d³.
	widest = 128

	// mostParts is how many assumptions are left after a fit.
	mostParts = 16

	// faint is the weight, as a share of the greatest, below which an assumption is dropped.
	faint = 1e-5
)

// Averaged returns the average around m for questions of a kind. ok is false where
// there is none: for likelihoods whose noise is not a number to vary ("gaussian" and
// "bernoulli"), and more than 128 weights.
func (m Model) Averaged(kind idrl.QueryKind) (out Averaged, ok bool) {
	if m.Start.Dim() > widest {
		return Averaged{}, false
	}
	out.start = m.Start
	for _, factor := range noises {
		octaves := math.Log2(factor) / priorOctaves
		for _, rate := range lapses {
			log := -octaves * octaves / 2
			if rate > 0 {
				log -= math.Log(float64(len(lapses)-1)) + math.Log((1-priorLapses)/priorLapses)
			}
			for _, varied := range m.vary(kind, factor, rate) {
				out.assumptions = append(out.assumptions, assumption{varied, log})
			}
		}
	}
	return out, len(out.assumptions) > 0
}

// vary returns m with factor times the noise and a rate of lapses in answers to questions of
// a kind. For comparisons it returns one model for each width of ties and threshold of much
// better.
func (m Model) vary(kind idrl.QueryKind, factor, rate float64) (out []Model) {
	add := func(set func(*Model, idrl.Likelihood), l idrl.Likelihood, outcomes int) {
		if rate > 0 {
			l = Lapse{Of: l, Rate: rate, Outcomes: outcomes}
		}
		varied := m
		set(&varied, l)
		out = append(out, varied)
	}
	if kind.Group() {
		varied := m
		varied.Group = BestWorst{NoiseStd: factor * m.Group.NoiseStd, Lapse: rate}
		return []Model{varied}
	}
	ratings := func(varied *Model, l idrl.Likelihood) { varied.Rating = l }
	comparisons := func(varied *Model, l idrl.Likelihood) { varied.Comparison = l }
	if !kind.Comparison() {
		switch l := m.Rating.(type) {
		case RatingClipped:
			add(ratings, RatingClipped{NoiseVar: factor * factor * l.NoiseVar}, 0)
		case Rating:
			add(ratings, Rating{NoiseVar: factor * factor * l.NoiseVar}, 0)
		}
		return out
	}
	m.Remark = varyRemark(m.Remark, factor, rate)
	for _, width := range widths {
		switch l := m.Comparison.(type) {
		case Graded:
			for _, much := range muches {
				of := varyBands(l.Of, factor, width)
				if g := (Graded{Of: of, Much: factor * much * l.Much}); g.Much > of.Tie() {
					add(comparisons, g, 5)
				}
			}
		case Banded:
			add(comparisons, varyBands(l, factor, width), 3)
		}
	}
	return out
}

// varyBands returns l with factor times the noise, and width times the width of ties in units
// of the noise.
func varyBands(l Banded, factor, width float64) Banded {
	if b, ok := l.(BradleyTerry); ok {
		return BradleyTerry{Beta: b.Beta / factor, TieWidth: factor * width * b.TieWidth}
	}
	p := l.(Probit)
	return Probit{NoiseStd: factor * p.NoiseStd, TieBand: factor * width * p.TieBand}
}

// varyRemark returns the likelihood of a remark with factor times the noise and a rate of
// lapses; nil for nil.
func varyRemark(l idrl.Likelihood, factor, rate float64) idrl.Likelihood {
	b, ok := l.(Banded)
	if !ok {
		return l
	}
	if b = varyBands(b, factor, 1); rate > 0 {
		return Lapse{Of: b, Rate: rate, Outcomes: 2}
	}
	return b
}

// Grouped reports Model.OfGroups.
func (v Averaged) Grouped() bool { return v.assumptions[0].model.OfGroups }

// Prior returns the belief before the first answer, under every assumption.
func (v Averaged) Prior() idrl.Posterior {
	x, logs := &Mixture{parts: make([]part, len(v.assumptions))}, make([]float64, len(v.assumptions))
	for i, a := range v.assumptions {
		x.parts[i], logs[i] = part{assumption: i, belief: v.start}, a.log
	}
	x.weigh(logs)
	return x
}

// Condition returns the belief after answer a to q, by one step of assumed density
// filtering under each assumption. Assumptions under which the step cannot be computed are
// dropped. It returns errors as Model.Condition does.
func (v Averaged) Condition(p idrl.Posterior, q idrl.QueryVector, a idrl.Answer) (idrl.Posterior, error) {
	x, ok := p.(*Mixture)
	if !ok {
		return nil, fmt.Errorf("belief: average of a %T", p)
	}
	x = x.clone()
	if err := v.take(x, q, a); err != nil {
		return nil, err
	}
	return x, nil
}

// take is Condition in place, of a mixture that is not shared.
func (v Averaged) take(x *Mixture, q idrl.QueryVector, a idrl.Answer) error {
	if err := v.assumptions[0].model.fits(x.parts[0].belief, q, a); err != nil || !a.Informative() {
		return err
	}
	var failed error
	seen := observations(nil, &q, &a)
	sx, kept, logs := make([]float64, x.Dim()), x.parts[:0], make([]float64, 0, len(x.parts))
	for _, p := range x.parts {
		logZ, err := v.assumptions[p.assumption].model.absorbAll(p.belief, seen, sx)
		if err != nil {
			failed = err
			continue
		}
		kept, logs = append(kept, p), append(logs, math.Log(p.weight)+logZ)
	}
	if len(kept) == 0 {
		return failed
	}
	x.parts = kept
	x.weigh(logs)
	return nil
}

// absorbAll is Model.Condition in place, of a belief that is not shared, with the
// observations of an answer that fits; sx is workspace of length d. It returns log Z of the
// answer, or an error if log Z or the belief after it cannot be computed.
func (m Model) absorbAll(g *Gaussian, seen []observation, sx []float64) (sum float64, err error) {
	for _, o := range seen {
		logZ, err := m.absorb(g, *o.query, *o.answer, sx)
		if err != nil {
			return 0, err
		}
		sum += logZ
	}
	return sum, nil
}

// absorb is absorbAll of one observation.
func (m Model) absorb(g *Gaussian, q idrl.QueryVector, a idrl.Answer, sx []float64) (logZ float64, err error) {
	if q.Kind.Group() {
		return m.absorbGroup(g, q, a)
	}
	mean, v := idrl.Moments(g, q.X, g.mean, sx) // leaves Σx in sx
	logZ, d1, d2, err := evaluate(m.Likelihood(q.Query), a, mean, v)
	if err == nil && !finite(logZ) {
		err = fmt.Errorf("belief: answer %q at mean %v and variance %v has the probability 0", a.Choice, mean, v)
	}
	if err == nil && floats.Norm(sx, math.Inf(1)) > 0 { // else it has no information about θ
		g.shift(q.X, sx, d1, -d2)
	}
	return logZ, err
}

// rough are the options of the fits of an average. A thousandth of a standard deviation is
// small relative to the differences between assumptions.
var rough = epOptions{sweeps: 20, tolerance: 1e-3}

// Fit returns the belief after all of some answers at once, given the belief before them;
// as[i] answers qs[i]. Assumptions are weighted as by Condition, answer by answer, and
// resampled to at most 16. The belief under each is that of Model.Fit, to a thousandth of a
// standard deviation or after 20 sweeps. Errors are those of Model.Fit. The report is about
// the assumption with the largest remaining change.
func (v Averaged) Fit(ctx context.Context, from idrl.Posterior, qs []idrl.QueryVector, as []idrl.Answer) (idrl.Posterior, idrl.FitReport, error) {
	x, ok := from.(*Mixture)
	if !ok {
		return nil, idrl.FitReport{}, fmt.Errorf("belief: average fit of a %T", from)
	}
	before := map[int]*Gaussian{}
	for _, p := range x.parts {
		before[p.assumption] = p.belief
	}
	x = x.clone()
	for i, a := range as {
		if ctx.Err() != nil {
			return nil, idrl.FitReport{}, ctx.Err()
		}
		if err := v.take(x, qs[i], a); err != nil {
			return nil, idrl.FitReport{}, fmt.Errorf("answer %d of %d: %w", i+1, len(as), err)
		}
	}
	x = x.thin(mostParts)
	worst := idrl.FitReport{Converged: true}
	for i, p := range x.parts {
		g, report, err := v.assumptions[p.assumption].model.ep(ctx, before[p.assumption], qs, as, rough)
		if err != nil {
			return nil, report, err
		}
		x.parts[i].belief = g
		if i == 0 || report.Change > worst.Change {
			worst = report
		}
	}
	return x, worst, nil
}
