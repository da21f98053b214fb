package neural

import (
	"context"
	"math"
	"math/rand/v2"

	"tiebreak/internal/base/nn"
	"tiebreak/internal/idrl"
)

// Train returns a model that is trained on d. warm is the model to continue from, of the same
// widths; nil begins with drawn weights, as the mode Anchored always does. The result is a
// function of the arguments and of the state of stream.
//
// It returns ctx.Err() soon after ctx is done, and an error of kind Invalid if cfg is out
// of range, d does not fit it, or warm has other widths. Without informative answers the
// posterior is the prior, under the features of the initial weights.
func Train(ctx context.Context, cfg Config, d idrl.Dataset, warm *Model, stream *rand.Rand) (*Model, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	all, err := gather(cfg, d)
	if err != nil {
		return nil, err
	}
	t, err := newTraining(ctx, cfg, all, warm, stream)
	if err != nil {
		return nil, err
	}
	if len(all.items) > 0 {
		if cfg.Mode == Paper {
			err = t.paper()
		} else {
			err = t.converge()
		}
		if err != nil {
			return nil, err
		}
	}
	return t.model()
}

// A training is the work on one network.
type training struct {
	ctx    context.Context
	cfg    Config
	data   *data // whose inputs are scaled
	scale  scale
	net    *nn.Net
	pass   *nn.Pass // of batch items
	batch  int      // items of an update at most
	stream *rand.Rand
	loss   loss
	report Report

	penalty *nn.Penalty // in Anchored; elsewhere λ‖w‖², by the optimiser

	order []int // a permutation of the items
	left  []int // of order, not used yet
	x, dy []float32
	sums  [][2]float64 // rewards of the clips of the items of a batch
}

// A Report says how a training went.
type Report struct {
	Answers   int     // informative answers in the data
	Updates   int     // of the weights
	Objective float64 // at the end: Σ −log p and the penalty, in nats; in Paper the mean loss of the last epoch
	Converged bool    // not in Paper: lower learning rates do not lower the objective by another thousandth

	// Collapsed says that the answers are explained best by a network that is zero, for
	// example because they contradict each other. The features are then the initial ones.
	Collapsed bool
}

// Sizes of a batch. The authors' code has 20 answers.
const (
	maxBatch  = 20   // answers
	batchRows = 8192 // not in Paper; unless one answer has more
)

func newTraining(ctx context.Context, cfg Config, d *data, warm *Model, stream *rand.Rand) (*training, error) {
	net, err := cfg.network()
	if err != nil {
		return nil, err
	}
	t := &training{ctx: ctx, cfg: cfg, data: d, scale: raw(d.width), net: net, stream: stream, loss: corrected, batch: maxBatch}
	if cfg.Mode == Paper {
		t.loss = paper
	} else {
		t.batch = max(1, min(maxBatch, batchRows/max(1, d.most), len(d.items)))
		t.scale = scaleOf(d)
	}
	if err := t.begin(warm); err != nil {
		return nil, err
	}
	if cfg.Mode == Anchored {
		if err := t.anchor(); err != nil {
			return nil, err
		}
	}
	for i := 0; i < len(d.x); i += d.width {
		t.scale.apply(d.x[i : i+d.width])
	}
	t.pass = net.NewPass(max(1, t.batch*d.most))
	t.x, t.dy = make([]float32, t.batch*d.most*d.width), make([]float32, t.batch*d.most)
	t.sums = make([][2]float64, t.batch)
	t.order = make([]int, len(d.items))
	for i := range t.order {
		t.order[i] = i
	}
	t.report.Answers = len(d.items)
	return t, nil
}

// begin sets the initial weights. In Corrected the weights of a model without answers are not
// used: its inputs were not scaled, so that they are far too large for scaled data.
func (t *training) begin(warm *Model) error {
	if warm != nil && !warm.cfg.alike(t.cfg) {
		return idrl.Errorf(idrl.Invalid, "the earlier model has layers of %v units instead of %v", warm.cfg.sizes(), t.cfg.sizes())
	}
	if warm == nil || t.cfg.Mode == Anchored || t.cfg.Mode == Corrected && warm.report.Answers == 0 && len(t.data.items) > 0 {
		t.net.Init(t.stream)
		return nil
	}
	if len(t.data.items) == 0 {
		t.scale = warm.scale
	}
	w := warm.net.Params(nil)
	for j, factor := range t.scale.move(warm.scale) {
		for i := range t.cfg.Hidden[0] {
			w[i*t.data.width+j] *= factor
		}
	}
	return t.net.SetParams(w)
}

// anchorGain is the standard deviation of the weights that Anchored draws, in units of
// √(2/inputs of the layer), with which signals keep their size (He et al. 2015). The choice is
// explained in docs/methods.md, section 2.5.
const anchorGain = 1.5

// anchor scales the drawn weights w₀ of hidden layers to the standard deviation σ of
// anchorGain, and sets the penalty λ(w − w₀)²/σ². With λ = ½ it is minus the log prior of
// N(w₀, σ²). The last layer is as in Corrected: w₀ is 0 and σ is 1.
func (t *training) anchor() error {
	w, k, sizes := t.net.Params(nil), make([]float32, t.net.Len()), t.cfg.sizes()
	at, i := make([]float32, t.net.Len()), 0
	for l, in := range sizes[:len(sizes)-1] {
		last := l == len(sizes)-2
		variance := 2 * anchorGain * anchorGain / float64(in)
		for range in * sizes[l+1] {
			k[i] = float32(2 * t.cfg.Lambda)
			if !last {
				k[i] /= float32(variance)
				w[i] *= float32(math.Sqrt(3 * float64(in) * variance)) // of U(±1/√in)
				at[i] = w[i]
			}
			i++
		}
	}
	if err := t.net.SetParams(w); err != nil {
		return err
	}
	var err error
	t.penalty, err = t.net.NewPenalty(k, at)
	return err
}

// paperEpochs and paperRate are those of the authors' code, whose optimiser adds
// paperDecay·w to the gradient of the mean loss.
const (
	paperEpochs = 10
	paperRate   = 1e-4
)

// paper trains as the authors' code does: a new optimiser, and ten epochs in batches of 20,
// without the last batch if it is not full.
func (t *training) paper() error {
	opt, err := nn.NewOptimiser(t.net, adam(paperRate, t.cfg.Lambda))
	if err != nil {
		return err
	}
	for range paperEpochs {
		t.shuffle()
		if err := t.epoch(opt); err != nil {
			return err
		}
	}
	return nil
}

// epoch makes an update by each full batch of the order.
func (t *training) epoch(opt *nn.Optimiser) error {
	t.report.Objective = 0
	for batches := len(t.order) / t.batch; len(t.left) >= t.batch; t.report.Updates++ {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		t.report.Objective += t.update(opt) / float64(batches)
	}
	return nil
}

func adam(rate, decay float64) nn.Adam {
	return nn.Adam{Rate: float32(rate), Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: float32(decay)}
}

// shuffle draws a new order of the items.
func (t *training) shuffle() {
	t.stream.Shuffle(len(t.order), func(i, j int) { t.order[i], t.order[j] = t.order[j], t.order[i] })
	t.left = t.order
}

// update moves the weights once, by the mean loss of the next batch, which it returns.
func (t *training) update(opt *nn.Optimiser) (mean float64) {
	if len(t.left) == 0 {
		t.shuffle()
	}
	items := t.left[:min(t.batch, len(t.left))]
	t.left = t.left[len(items):]
	t.forward(items)
	row := 0
	for k, i := range items {
		it := &t.data.items[i]
		value, da, db := t.loss(it, t.sums[k][0], t.sums[k][1])
		mean += value / float64(len(items))
		for clip, d := range [2]float64{da, db} {
			for range it.rows[clip] {
				t.dy[row] = float32(d / float64(len(items)))
				row++
			}
		}
	}
	t.pass.ZeroGrad()
	t.pass.Backward(t.dy[:row])
	if t.penalty != nil {
		t.pass.AddPenalty(t.penalty, 1/float32(len(t.data.items)))
	}
	opt.Step(t.pass)
	return mean
}

// forward computes t.sums of some items, at most t.batch.
func (t *training) forward(items []int) {
	x, width := t.x[:0], t.data.width
	for _, i := range items {
		it := &t.data.items[i]
		x = append(x, t.data.x[it.first*width:(it.first+it.rows[0]+it.rows[1])*width]...)
	}
	y := t.pass.Forward(x, len(x)/width)
	for k, i := range items {
		for clip, n := range t.data.items[i].rows {
			t.sums[k][clip] = 0
			for _, r := range y[:n] {
				t.sums[k][clip] += float64(r)
			}
			y = y[n:]
		}
	}
}

// Learning rates, one after the other, except in Paper; and the updates between two
// evaluations of the objective.
var rates = [...]float64{3e-3, 1e-3, 3e-4}

const stage = 100

// enough is the share by which a stage must lower the objective for another at its rate.
const enough = 1e-3

// converge lowers the objective until it has converged, and leaves the best weights found.
func (t *training) converge() error {
	start := t.net.Params(nil)
	best, objective := t.net.Params(nil), t.objective()
	for _, rate := range rates {
		decay := 2 * t.cfg.Lambda / float64(len(t.data.items))
		if t.penalty != nil {
			decay = 0
		}
		opt, err := nn.NewOptimiser(t.net, adam(rate, decay))
		if err != nil {
			return err
		}
		for before := math.Inf(1); objective < before*(1-enough); {
			before = objective
			t.report.Converged = false
			for range stage {
				if err := t.ctx.Err(); err != nil {
					return err
				}
				if t.report.Updates == t.cfg.Updates {
					return t.settle(start, best, objective)
				}
				t.update(opt)
				t.report.Updates++
			}
			if now := t.objective(); now < objective {
				objective = now
				t.net.Params(best)
			}
			t.report.Converged = true
		}
		if err := t.net.SetParams(best); err != nil {
			return err
		}
	}
	return t.settle(start, best, objective)
}

// settle ends converge.
func (t *training) settle(start, best []float32, objective float64) error {
	t.report.Objective = objective
	if t.report.Collapsed = square(best) < 1e-4*square(start); t.report.Collapsed {
		best = start
	}
	return t.net.SetParams(best)
}

// objective returns Σ −log p and the penalty.
func (t *training) objective() (sum float64) {
	if t.penalty != nil {
		sum = t.penalty.Value()
	} else {
		sum = t.cfg.Lambda * square(t.net.Params(nil))
	}
	for from := 0; from < len(t.order); from += t.batch {
		items := t.order[from:min(from+t.batch, len(t.order))]
		t.forward(items)
		for k, i := range items {
			value, _, _ := t.loss(&t.data.items[i], t.sums[k][0], t.sums[k][1])
			sum += value
		}
	}
	return sum
}

// square returns ‖w‖².
func square(w []float32) (sum float64) {
	for _, v := range w {
		sum += float64(v) * float64(v)
	}
	return sum
}
