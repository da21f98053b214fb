package neural

import (
	"slices"
	"sync"

	"tiebreak/internal/base/nn"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
)

// A Model is a reward network and the posterior of the weights of its last layer. It is
// immutable, and may be used by any number of goroutines.
type Model struct {
	cfg       Config
	scale     scale
	net       *nn.Net          // whose last layer is the mean of posterior, in single precision
	posterior *belief.Gaussian // of the weights of the last layer
	report    Report

	evaluators *sync.Pool // of *Evaluator under the mean
}

// newModel returns a model of these parts, which it keeps.
func newModel(cfg Config, s scale, net *nn.Net, p *belief.Gaussian, r Report) (*Model, error) {
	m := &Model{cfg: cfg, scale: s, net: net, posterior: p, report: r}
	m.evaluators = &sync.Pool{New: func() any { return m.Evaluator(nil) }}
	w := net.Params(nil)
	last := w[len(w)-p.Dim():]
	for i, v := range p.Mean(nil) {
		last[i] = float32(v)
	}
	if !finiteSingle(w) {
		return nil, idrl.Errorf(idrl.Internal, "the weights of the reward network are not finite")
	}
	return m, net.SetParams(w)
}

// model returns the trained model.
func (t *training) model() (*Model, error) {
	d := t.cfg.features()
	w := t.net.Params(nil)
	if !finiteSingle(w) {
		return nil, idrl.Errorf(idrl.Invalid, "training of the reward network diverged; its observations or actions are too large (mode %q)", t.cfg.Mode)
	}
	l := laplace{ridge: t.cfg.precision(), items: t.data.items, x: t.features()}
	theta := make([]float64, d)
	for i, v := range w[len(w)-d:] {
		theta[i] = float64(v)
	}
	var p *belief.Gaussian
	var err error
	if t.cfg.Mode == Paper {
		p, err = l.paperPosterior(theta)
	} else {
		if theta, err = l.mode(theta); err != nil {
			return nil, err
		}
		p, err = l.posterior(theta)
	}
	if err != nil {
		return nil, err
	}
	return newModel(t.cfg, t.scale, t.net, p, t.report)
}

// features returns for each answer the vector x, length d, such that it is about θ·x.
func (t *training) features() [][]float64 {
	d, last := t.cfg.features(), len(t.cfg.Hidden)-1
	out, all := make([][]float64, len(t.data.items)), make([]float64, len(t.data.items)*d)
	for i := range t.data.items {
		it := &t.data.items[i]
		out[i] = all[i*d : (i+1)*d]
		t.forward([]int{i})
		f := t.pass.Hidden(last)
		for clip, n := range it.rows {
			for row := range n {
				for k, v := range f[row*d : (row+1)*d] {
					out[i][k] += it.c[clip] * float64(v)
				}
			}
			f = f[n*d:]
		}
	}
	return out
}

func finiteSingle(w []float32) bool {
	return !slices.ContainsFunc(w, func(v float32) bool { return v-v != 0 })
}

// alike reports whether models of c and o have the same weights.
func (c Config) alike(o Config) bool {
	return c.ObsDim == o.ObsDim && c.ActDim == o.ActDim && c.Slope == o.Slope && slices.Equal(c.Hidden, o.Hidden)
}

// Config returns that of the model, with its defaults filled in.
func (m *Model) Config() Config { return m.cfg }

// Report says how the training went.
func (m *Model) Report() Report { return m.report }

// Dim returns d, the number of features.
func (m *Model) Dim() int { return m.cfg.features() }

// Posterior returns the belief about θ, the weights of the last layer: N(θ̂, H⁻¹).
func (m *Model) Posterior() *belief.Gaussian { return m.posterior }

// Under returns m with another belief about θ, such as that after further answers. It
// returns an error of kind Invalid if p has another dimension, and of kind Internal if its
// mean is not finite in single precision.
func (m *Model) Under(p *belief.Gaussian) (*Model, error) {
	if p.Dim() != m.Dim() {
		return nil, idrl.Errorf(idrl.Invalid, "a belief about %d weights does not fit a reward network with %d features", p.Dim(), m.Dim())
	}
	return newModel(m.cfg, m.scale, m.with(p.Mean(nil)), p, m.report)
}

// RewardModel returns how further answers change beliefs about θ while the features stay,
// from the prior of the model.
func (m *Model) RewardModel() belief.Model {
	return belief.Model{Start: belief.Isotropic(m.Dim(), 1/m.cfg.precision()), Comparison: m.cfg.Comparison, Rating: m.cfg.Rating}
}

// Features stores in dst, of length Dim, Σ f over the steps of s, undiscounted, and returns
// it. The rows of s must have the widths of the model.
func (m *Model) Features(dst []float64, s idrl.Steps) []float64 {
	e := m.evaluators.Get().(*Evaluator)
	defer m.evaluators.Put(e)
	return e.sum(dst, s)
}

// MeanFeatures stores in dst, of length Dim, the mean over rollouts, of which there must be
// one, of Σ f, undiscounted, and returns it: the visitation of a policy in the features.
func (m *Model) MeanFeatures(dst []float64, rollouts []idrl.Steps) []float64 {
	work := make([]float64, len(dst))
	clear(dst)
	for _, s := range rollouts {
		floats.AddScaled(dst, 1/float64(len(rollouts)), m.Features(work, s))
	}
	return dst
}

// Given returns the posterior that is expected once a comparison with the difference x of
// the features of its clips has been answered, whatever the answer:
//
//	N(θ̂, (H + w x xᵀ)⁻¹),  (H + w x xᵀ)⁻¹ = C − w C x xᵀ C/(1 + w xᵀC x)
//
// with C = H⁻¹, by Sherman and Morrison, and w the Fisher information of the answer at
// the mean: p(1 − p) in a Bradley-Terry model without ties. x has length Dim.
func (m *Model) Given(x []float64) *belief.Gaussian {
	work := make([]float64, len(x))
	u, v := idrl.Moments(m.posterior, x, m.posterior.Mean(nil), work)
	w := m.weight(u)
	return m.posterior.Condition(x, 0, w/(1+w*v))
}

// weight returns the Fisher information about u of the answer to a comparison.
func (m *Model) weight(u float64) float64 {
	if m.cfg.Mode == Paper {
		return slopeOf(u)
	}
	return m.cfg.Comparison.Info(u, 0)
}

// Variances stores in dst[k] the posterior variance of θ·xs[k], and returns it; nil
// allocates. The baseline of the paper asks the comparisons with the largest.
func (m *Model) Variances(dst []float64, xs [][]float64) []float64 {
	dst = destination(dst, len(xs))
	work := make([]float64, m.Dim())
	for k, x := range xs {
		m.posterior.CovMul(work, x)
		dst[k] = floats.Dot(work, x)
	}
	return dst
}

// VariancesGiven stores in dst[k] the variance of θ·x under Given(xs[k]), and returns it;
// nil allocates. x is the difference of the features of two policies. IDRL asks the
// comparisons with the smallest.
func (m *Model) VariancesGiven(dst []float64, xs [][]float64, x []float64) []float64 {
	dst = destination(dst, len(xs))
	mean, cx, work := m.posterior.Mean(nil), make([]float64, m.Dim()), make([]float64, m.Dim())
	m.posterior.CovMul(cx, x)
	now := floats.Dot(x, cx)
	for k, q := range xs {
		u, v := idrl.Moments(m.posterior, q, mean, work)
		w, shared := m.weight(u), floats.Dot(q, cx)
		dst[k] = now - w*shared*shared/(1+w*v)
	}
	return dst
}

func destination(dst []float64, n int) []float64 {
	if dst == nil {
		return make([]float64, n)
	}
	if len(dst) != n {
		panic("neural: destination has the wrong length")
	}
	return dst
}
