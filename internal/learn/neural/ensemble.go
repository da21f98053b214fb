package neural

import (
	"context"
	"math"
	"math/rand/v2"

	"tiebreak/internal/idrl"
)

// An Ensemble is the baseline of Christiano et al. ("Deep reinforcement learning from human
// preferences", NeurIPS 2017, section 2.2.3): networks that are trained each on answers
// drawn from all with replacement, whose rewards are normalised one by one and averaged.
// How much their predictions differ stands for uncertainty. It is immutable.
type Ensemble struct {
	members []member
}

// A member is a network whose reward of a step is (r − mean)/std.
type member struct {
	*Model
	mean, std float64
}

// TrainEnsemble returns an ensemble of k networks that d teaches. warm is the one to go on
// from, of as many networks; nil begins anew. Everything else is as in Train.
func TrainEnsemble(ctx context.Context, cfg Config, k int, d idrl.Dataset, warm *Ensemble, stream *rand.Rand) (*Ensemble, error) {
	if k < 1 || warm != nil && len(warm.members) != k {
		return nil, idrl.Errorf(idrl.Invalid, "an ensemble of %d networks cannot be trained here", k)
	}
	all, err := gather(cfg.withDefaults(), d)
	if err != nil {
		return nil, err
	}
	out := &Ensemble{}
	for i := range k {
		var from *Model
		if warm != nil {
			from = warm.members[i].Model
		}
		m, err := Train(ctx, cfg, resample(d, stream), from, stream)
		if err != nil {
			return nil, err
		}
		out.members = append(out.members, normalised(m, all))
	}
	return out, nil
}

// resample returns as many answers, drawn with replacement.
func resample(d idrl.Dataset, stream *rand.Rand) (out idrl.Dataset) {
	for range d.Answers {
		i := stream.IntN(len(d.Answers))
		out.Queries, out.Answers = append(out.Queries, d.Queries[i]), append(out.Answers, d.Answers[i])
		out.Shown = append(out.Shown, d.Shown[i])
	}
	return out
}

// normalised returns m with mean 0 and standard deviation 1 over the steps of d; without
// steps, or where all rewards are alike, it leaves the scale as it is.
func normalised(m *Model, d *data) member {
	out, n := member{Model: m, std: 1}, len(d.x)/d.width
	if n == 0 {
		return out
	}
	e, r := m.Evaluator(nil), make([]float64, n)
	e.rows(r, d.x)
	for _, v := range r {
		out.mean += v / float64(n)
	}
	square := 0.0
	for _, v := range r {
		square += (v - out.mean) * (v - out.mean) / float64(n)
	}
	if std := math.Sqrt(square); std > 1e-9 {
		out.std = std
	}
	return out
}

// An EnsembleEvaluator computes rewards of many steps. It is owned by one goroutine.
type EnsembleEvaluator struct {
	members    []member
	evaluators []*Evaluator
	work       []float64
}

// Evaluator returns one for batches of up to rows steps.
func (e *Ensemble) Evaluator(rows int) *EnsembleEvaluator {
	out := &EnsembleEvaluator{members: e.members, work: make([]float64, rows)}
	for _, m := range e.members {
		out.evaluators = append(out.evaluators, m.Model.Evaluator(nil))
	}
	return out
}

// Reward stores in dst the mean of the normalised rewards of n steps. Its arguments are
// those of Evaluator.Reward. It does not allocate.
func (e *EnsembleEvaluator) Reward(dst []float64, obs, act []float32, n int) {
	clear(dst[:n])
	for k, m := range e.members {
		e.evaluators[k].Reward(e.work[:n], obs, act, n)
		for i, r := range e.work[:n] {
			dst[i] += (r - m.mean) / (m.std * float64(len(e.members)))
		}
	}
}

// Sums returns what each network predicts of a clip: Σ r over its steps, before
// normalisation, which is the scale that its preferences are about.
func (e *Ensemble) Sums(s idrl.Steps) []float64 {
	out := make([]float64, len(e.members))
	for k, m := range e.members {
		f, theta := m.Features(make([]float64, m.Dim()), s), m.Posterior().Mean(nil)
		for i, v := range f {
			out[k] += theta[i] * v
		}
	}
	return out
}

// Preference returns the mean over the networks of the probability that the clip of sums a
// is preferred to that of b, and its variance: the disagreement, by which Christiano et
// al. choose what to ask. a and b are those of Sums.
func (e *Ensemble) Preference(a, b []float64) (mean, variance float64) {
	k, square := float64(len(e.members)), 0.0
	for i, m := range e.members {
		p := idrl.Predict(m.cfg.Comparison, a[i]-b[i], 0)
		prefer := p[0] + p[2]/2
		mean += prefer / k
		square += prefer * prefer / k
	}
	return mean, max(0, square-mean*mean)
}
