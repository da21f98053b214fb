package sac

import (
	"math"
	"math/rand/v2"

	"tiebreak/internal/base/nn"
	"tiebreak/internal/idrl"
)

// Of Adam, as in Stable-Baselines3.
const (
	beta1   = 0.9
	beta2   = 0.999
	adamEps = 1e-8
)

// A trained is a network with an optimiser and a pass for batches.
type trained struct {
	net  *nn.Net
	opt  *nn.Optimiser
	pass *nn.Pass
}

func newTrained(sizes []int, rate float64, batch int, rng *rand.Rand) (t trained, err error) {
	if t.net, err = nn.New(nn.Config{Sizes: sizes, Bias: true}); err != nil {
		return t, err
	}
	t.net.Init(rng)
	t.opt, err = nn.NewOptimiser(t.net, nn.Adam{Rate: float32(rate), Beta1: beta1, Beta2: beta2, Eps: adamEps})
	t.pass = t.net.NewPass(batch)
	return t, err
}

// fit changes the network by the gradient of Σ dy·y, where y is the output of its last
// forward pass.
func (t trained) fit(dy []float32) {
	t.pass.ZeroGrad()
	t.pass.Backward(dy)
	t.opt.Step(t.pass)
}

// A critic estimates Q(s, a); its target follows slowly.
type critic struct {
	trained
	target     *nn.Net
	targetPass *nn.Pass
	dy         []float32 // gradient with respect to the outputs
	rows       []int     // of the batch where this critic is the lower one
}

// A temperature is the weight α of the entropy, and the state of its Adam.
type temperature struct{ Log, M, V float64 }

// A minibatch is the transitions of an update.
type minibatch struct {
	obs, next   []float32 // B×seen
	taken       []float32 // observation and action of the transitions, B×(seen+dim)
	chosen      []float32 // the same observations with actions of the present policy
	nextChosen  []float32 // next observations with actions of the present policy
	reward      []float32 // normalised, if that is wanted
	live        []float32 // 0 if the next state is terminal, else 1
	logp, nextp []float32 // log densities of the actions in chosen and nextChosen
	dOut, da    []float32 // gradients for the actor
	worth       []float32 // targets of the critics
}

// A learner has the networks and the memory of an update, which does not allocate.
type learner struct {
	Settings
	shape
	entropy  float64 // target
	actor    trained
	nextPass *nn.Pass // of the actor
	critics  [2]*critic
	heat     temperature
	alpha    [1]float32 // weight of the entropy, exp of heat.Log
	updates  int
	now, to  *squashed
	mini     minibatch
	loss     float64 // of the critics in the last update
	surprise float64 // mean −log p of the actions in the last update
}

func newLearner(s Settings, h shape, rng *rand.Rand) (*learner, error) {
	l := &learner{Settings: s, shape: h, entropy: s.targetEntropy(h.act)}
	var err error
	if l.actor, err = newTrained(s.sizes(h.seen(), 2*h.act), s.Rate, s.Batch, rng); err != nil {
		return nil, err
	}
	l.nextPass = l.actor.net.NewPass(s.Batch)
	for i := range l.critics {
		c := &critic{dy: make([]float32, s.Batch), rows: make([]int, 0, s.Batch)}
		sizes := s.sizes(h.seen()+h.act, 1)
		if c.trained, err = newTrained(sizes, s.Rate, s.Batch, rng); err != nil {
			return nil, err
		}
		if c.target, err = nn.New(c.net.Config()); err != nil {
			return nil, err
		}
		c.target.Copy(c.net)
		c.targetPass = c.target.NewPass(s.Batch)
		l.critics[i] = c
	}
	l.now, l.to = newSquashed(s.Batch, h.act), newSquashed(s.Batch, h.act)
	l.mini = newMinibatch(s.Batch, h)
	return l, nil
}

func newMinibatch(n int, h shape) minibatch {
	f := func(width int) []float32 { return make([]float32, n*width) }
	in := h.seen() + h.act
	return minibatch{
		obs: f(h.seen()), next: f(h.seen()), taken: f(in), chosen: f(in), nextChosen: f(in),
		reward: f(1), live: f(1), logp: f(1), nextp: f(1), dOut: f(2 * h.act), da: f(h.act), worth: f(1),
	}
}

// update does one gradient step of everything with transitions and noise drawn from
// rng. It returns an error if the critics have diverged.
func (l *learner) update(r *replay, shift, factor float32, rng *rand.Rand) error {
	l.fill(r, shift, factor, rng)
	l.now.draw(rng)
	l.to.draw(rng)
	return l.learn()
}

// learn is an update with the transitions and the noise that are there.
func (l *learner) learn() error {
	l.updates++
	b, m := l.Batch, &l.mini
	l.now.sample(l.actor.pass.Forward(m.obs, b), m.logp)
	l.to.sample(l.nextPass.Forward(m.next, b), m.nextp)
	l.place(m.chosen, l.now.action)
	l.place(m.nextChosen, l.to.action)
	l.alpha[0] = float32(max(-80, min(80, l.heat.Log)))
	nn.Exp(l.alpha[:], l.alpha[:])
	alpha := l.alpha[0]
	l.warm()
	l.value(alpha)
	if err := l.fitCritics(); err != nil {
		return err
	}
	if err := l.improve(alpha); err != nil {
		return err
	}
	for _, c := range l.critics {
		c.target.Polyak(c.net, float32(l.Polyak))
	}
	return nil
}

// fill draws the transitions.
func (l *learner) fill(r *replay, shift, factor float32, rng *rand.Rand) {
	m, s, in := &l.mini, l.seen(), l.seen()+l.act
	for i := range l.Batch {
		k := r.draw(rng)
		row := r.row(k)
		copy(m.obs[i*s:(i+1)*s], row)
		copy(m.taken[i*in:(i+1)*in], row)
		copy(m.chosen[i*in:], row[:s])
		m.reward[i] = row[in]
		if l.NormaliseReward {
			m.reward[i] = max(-rewardClip, min(rewardClip, (row[in]-shift)*factor))
		}
		m.live[i] = 1
		if r.kind[k] == final {
			m.live[i] = 0
		}
		next := r.row(r.next(k))[:s]
		copy(m.next[i*s:], next)
		copy(m.nextChosen[i*in:], next)
	}
}

// place puts actions, B×dim, beside the observations in the inputs of a critic.
func (l *learner) place(inputs, actions []float32) {
	in := l.seen() + l.act
	for i := range l.Batch {
		copy(inputs[i*in+l.seen():(i+1)*in], actions[i*l.act:(i+1)*l.act])
	}
}

// warm moves log α by the gradient of −log α · mean(log p + target entropy).
func (l *learner) warm() {
	sum := 0.0
	for _, v := range l.mini.logp {
		sum += float64(v)
	}
	l.surprise = -sum / float64(l.Batch)
	g := l.surprise - l.entropy
	h, t := &l.heat, float64(l.updates)
	h.M = float64(beta1*h.M) + float64((1-beta1)*g)
	h.V = float64(beta2*h.V) + float64((1-beta2)*float64(g*g))
	m, v := h.M/(1-math.Pow(beta1, t)), h.V/(1-math.Pow(beta2, t))
	h.Log -= float64(l.Rate*m) / (math.Sqrt(v) + adamEps)
}

// value computes the targets r + γ (min Q'(s', a') − α log p(a'|s')).
func (l *learner) value(alpha float32) {
	m := &l.mini
	q0 := l.critics[0].targetPass.Forward(m.nextChosen, l.Batch)
	q1 := l.critics[1].targetPass.Forward(m.nextChosen, l.Batch)
	discount := float32(l.Discount)
	for i := range m.worth {
		soft := min(q0[i], q1[i]) - float32(alpha*m.nextp[i])
		m.worth[i] = m.reward[i] + float32(discount*m.live[i]*soft)
	}
}

// fitCritics fits both critics to the targets by half the mean squared error.
func (l *learner) fitCritics() error {
	scale, sum := 1/float32(l.Batch), 0.0
	for _, c := range l.critics {
		for i, q := range c.pass.Forward(l.mini.taken, l.Batch) {
			d := q - l.mini.worth[i]
			sum += float64(d) * float64(d)
			c.dy[i] = d * scale
		}
		c.fit(c.dy)
	}
	l.loss = sum / float64(2*l.Batch)
	return l.checkFinite("loss of the critics", l.loss)
}

func (l *learner) checkFinite(what string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return idrl.Errorf(idrl.Internal, "training diverged: the %s is %v after %d updates", what, v, l.updates)
	}
	return nil
}

// improve changes the actor by the gradient of the mean of α log p(a|s) − min Q(s, a).
func (l *learner) improve(alpha float32) error {
	m, b := &l.mini, float32(l.Batch)
	q0 := l.critics[0].pass.Forward(m.chosen, l.Batch)
	q1 := l.critics[1].pass.Forward(m.chosen, l.Batch)
	for _, c := range l.critics {
		c.rows = c.rows[:0]
	}
	for i := range m.logp {
		lower := 0
		if q1[i] < q0[i] {
			lower = 1
		}
		l.critics[lower].rows = append(l.critics[lower].rows, i)
	}
	in, s := l.seen()+l.act, l.seen()
	for _, c := range l.critics {
		for k := range c.rows {
			c.dy[k] = -1 / b
		}
		da := c.pass.BackwardInputOf(c.dy[:len(c.rows)], c.rows, s, in)
		for k, i := range c.rows {
			copy(m.da[i*l.act:(i+1)*l.act], da[k*l.act:])
		}
	}
	l.now.backward(m.dOut, m.da, alpha/b)
	sum := 0.0
	for _, v := range m.dOut {
		sum += float64(v)
	}
	if err := l.checkFinite("gradient of the actor", sum); err != nil {
		return err
	}
	l.actor.fit(m.dOut)
	return nil
}
