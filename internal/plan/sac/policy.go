package sac

import (
	"math"
	"math/rand/v2"
	"sync"

	"tiebreak/internal/base/nn"
	"tiebreak/internal/idrl"
)

// An actor computes actions in [−1, 1] from the parameters of a network, for one
// goroutine.
type actor struct {
	shape
	pass                    *nn.Eval
	u, std, slope, logSlope []float32 // work, a number for each dimension of the action
}

func newActor(net *nn.Net, h shape) *actor {
	f := func() []float32 { return make([]float32, h.act) }
	return &actor{shape: h, pass: net.NewEval(1), u: f(), std: f(), slope: f(), logSlope: f()}
}

// sample draws an action for an input of the networks; without rng it is the mean.
func (a *actor) sample(dst, obs []float32, rng *rand.Rand) {
	out := a.pass.Forward(obs, 1)
	copy(a.u, out)
	if rng != nil {
		for i := range a.std {
			a.std[i] = max(minLogStd, min(maxLogStd, out[len(dst)+i]))
		}
		nn.Exp(a.std, a.std)
		for i, std := range a.std {
			a.u[i] += float32(std * float32(rng.NormFloat64()))
		}
	}
	nn.Squash(dst, a.slope, a.logSlope, a.u)
}

// A Policy is the policy of an agent. Its parameters are, in this order,
//
//	1 (the version of this form), 1 if actions are drawn and 0 if they are the mean,
//	the horizon T of the time feature or 0 without one,
//	the number of hidden layers, their widths,
//	the parameters of the actor in the order of nn.Net.Params
//
// so that the network is known from them. Inputs are the observation and, if T > 0,
// (T−t)/T; outputs the means m and log standard deviations of the actions, which are
// low + (high−low)·(1 + tanh m)/2.
type Policy struct {
	params []float64
	drawn  bool
	shape  shape
	time   int // horizon of the time feature
	scale  scaler
	actors sync.Pool
}

var _ idrl.Timed = (*Policy)(nil)

// Version of the form of Params, and its numbers before the widths.
const (
	policyVersion = 1
	policyHead    = 4
)

// Policy returns the present policy, which later training does not change. Without drawn its
// actions are the means; with it they are drawn as in training.
func (a *Agent) Policy(drawn bool) *Policy {
	params := []float64{policyVersion, 0, 0, float64(len(a.Settings.Hidden))}
	if drawn {
		params[1] = 1
	}
	if a.Settings.Time {
		params[2] = float64(a.spec.Horizon)
	}
	for _, w := range a.Settings.Hidden {
		params = append(params, float64(w))
	}
	for _, v := range a.learn.actor.net.Params(nil) {
		params = append(params, float64(v))
	}
	p, err := NewPolicy(a.spec, params)
	if err != nil {
		panic("sac: " + err.Error()) // a loss that is finite comes from parameters that are
	}
	return p
}

// NewPolicy returns the policy for an environment with these actions and observations whose Params
// are params. It returns an error of kind Invalid if params do not describe such a policy.
func NewPolicy(spec idrl.EnvSpec, params []float64) (*Policy, error) {
	if err := checkBox(spec); err != nil {
		return nil, err
	}
	bad := func(what string, v any) error {
		return idrl.Errorf(idrl.Invalid, "these are no parameters of a policy of %s by soft actor-critic: %s is %v", spec.ID, what, v)
	}
	const head = policyHead
	if len(params) < head || params[0] != policyVersion || params[1] != 0 && params[1] != 1 {
		return nil, bad("the head", params[:min(head, len(params))])
	}
	p := &Policy{params: params, drawn: params[1] == 1, scale: newScaler(spec.Actions), shape: shape{obs: spec.ObsDim, act: spec.Actions.Dim()}}
	if params[2] != 0 {
		if !whole(params[2], math.MaxInt32) {
			return nil, bad("the horizon", params[2])
		}
		p.time, p.shape.time = int(params[2]), 1
	}
	layers := params[3]
	if !whole(layers, float64(len(params)-head)) {
		return nil, bad("the number of hidden layers", layers)
	}
	sizes := []int{p.shape.seen()}
	weights, last := 0, p.shape.seen()
	rest := params[head:]
	for _, w := range rest[:int(layers)] {
		if !whole(w, maxRow) {
			return nil, bad("the width of a layer", w)
		}
		sizes = append(sizes, int(w))
		weights += (last + 1) * int(w)
		last = int(w)
	}
	rest = rest[int(layers):]
	weights += (last + 1) * 2 * p.shape.act
	if len(rest) != weights {
		return nil, bad("the number of weights", len(rest))
	}
	net, err := newNet(append(sizes, 2*p.shape.act), rest)
	if err != nil {
		return nil, bad("the network", err)
	}
	p.actors.New = func() any {
		return &timedActor{actor: newActor(net, p.shape), obs: make([]float32, p.shape.seen()), act: make([]float32, p.shape.act)}
	}
	return p, nil
}

// whole reports whether v is one of the integers 1 to limit.
func whole(v, limit float64) bool { return v >= 1 && v <= limit && v == math.Trunc(v) }

// newNet returns a network with parameters that float32 must hold exactly.
func newNet(sizes []int, params []float64) (*nn.Net, error) {
	net, err := nn.New(nn.Config{Sizes: sizes, Bias: true})
	if err != nil {
		return nil, err
	}
	values := make([]float32, len(params))
	for i, v := range params {
		values[i] = float32(v)
		if float64(values[i]) != v {
			return nil, idrl.Errorf(idrl.Invalid, "weight %d is %v, which no float32 is", i, v)
		}
	}
	return net, net.SetParams(values)
}

// A timedActor has the buffers of one call of ActAt.
type timedActor struct {
	actor    *actor
	obs, act []float32
}

// Act is ActAt at the start of an episode.
func (p *Policy) Act(dst idrl.Action, obs []float64, rng *rand.Rand) idrl.Action {
	return p.ActAt(dst, obs, 0, rng)
}

// ActAt stores the action after t steps of the episode in dst and returns it. It draws
// from rng only if actions are drawn. Any goroutine may call it.
func (p *Policy) ActAt(dst idrl.Action, obs []float64, t int, rng *rand.Rand) idrl.Action {
	a := p.actors.Get().(*timedActor)
	defer p.actors.Put(a)
	for i, v := range obs {
		a.obs[i] = float32(v)
	}
	if p.time > 0 {
		a.obs[len(obs)] = timeLeft(t, p.time)
	}
	if !p.drawn {
		rng = nil
	}
	a.actor.sample(a.act, a.obs, rng)
	p.scale.real(dst, a.act)
	return dst
}

// Params returns the numbers that NewPolicy takes. The caller must not change them.
func (p *Policy) Params() []float64 { return p.params }
