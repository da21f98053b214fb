package sac

import (
	"context"
	"math"
	"math/rand/v2"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// Config has the parts and settings of an Agent.
type Config struct {
	Settings Settings         // required
	Env      idrl.Environment // required; the agent owns it. It must be an idrl.Snapshotter
	Reward   Reward           // required
	Seed     uint64
}

// An Agent learns to act in an environment. All its methods belong to one goroutine.
// It is a function of its configuration: the same steps with the same rewards give the same
// bytes, also after Checkpoint and Resume.
//
// If the horizon cuts an episode short, the critics bootstrap from its last state; only a
// state that is Terminated has the value 0. A step in which the simulation breaks down is
// not stored.
type Agent struct {
	Config
	spec    idrl.EnvSpec
	shape   shape
	scale   scaler
	replay  *replay
	label   *labeller
	rewards moments
	learn   *learner
	actor   *actor // of the present parameters

	acts, draws, world *rand.ChaCha8 // of actions, of updates, of the environment in this episode
	actions, updates   *rand.Rand    // of acts and draws

	status  Status
	t       int     // steps of this episode
	running bool    // an episode is under way
	total   float64 // its rewards
	obs     []float32
	act     []float32
	phi     []float32
	action  idrl.Action
}

// Status is the progress of a training.
type Status struct {
	Steps    int // of the environment
	Updates  int
	Episodes int // that ended
	Broken   int // episodes that ended because the simulation broke down

	Return      float64 // sum of the rewards of the last episode that ended without breaking down; stochastic actions
	Alpha       float64 // weight of the entropy
	Entropy     float64 // −log p, mean of the last update
	CriticLoss  float64 // mean squared error of the last update
	RewardMean  float64 // of all steps, or of the replay after a relabelling
	RewardStd   float64
	Transitions int // in the replay
}

// New returns an agent that has taken no step. It returns an error of kind Invalid if
// the settings are wrong or the environment does not suit.
func New(c Config) (*Agent, error) {
	spec := c.Env.Spec()
	if err := c.Settings.check(spec); err != nil {
		return nil, err
	}
	if _, ok := c.Env.(idrl.Snapshotter); !ok {
		return nil, idrl.Errorf(idrl.Invalid, "soft actor-critic needs an environment whose state can be saved; that of %s cannot", spec.ID)
	}
	h := newShape(c.Settings, spec)
	a := &Agent{
		Config: c, spec: spec, shape: h, scale: newScaler(spec.Actions), replay: newReplay(h, c.Settings.Replay),
		acts: rng.Source(c.Seed, "sac actions", 0), draws: rng.Source(c.Seed, "sac updates", 0), world: rng.Source(c.Seed, "sac episode", 0),
		obs: make([]float32, h.seen()), act: make([]float32, h.act), phi: make([]float32, h.phi), action: make(idrl.Action, h.act),
	}
	a.actions, a.updates = rand.New(a.acts), rand.New(a.draws)
	a.label = newLabeller(h, a.scale)
	var err error
	if a.learn, err = newLearner(c.Settings, h, rng.New(c.Seed, "sac networks", 0)); err != nil {
		return nil, err
	}
	a.actor = newActor(a.learn.actor.net, h)
	return a, nil
}

// Status returns the progress of the training.
func (a *Agent) Status() Status {
	s := a.status
	s.Updates, s.CriticLoss, s.Alpha = a.learn.updates, a.learn.loss, math.Exp(a.learn.heat.Log)
	s.Entropy, s.Transitions = a.learn.surprise, a.replay.valid
	s.RewardMean = a.rewards.Mean
	if a.rewards.Count > 0 {
		s.RewardStd = math.Sqrt(a.rewards.M2 / a.rewards.Count)
	}
	return s
}

// Run takes n steps, with their updates. After each episode it calls progress, which
// may be nil. It returns ctx.Err() soon after ctx is done, between two steps, and the
// errors of Step.
func (a *Agent) Run(ctx context.Context, n int, progress func(Status)) error {
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		episodes := a.status.Episodes
		if err := a.Step(); err != nil {
			return err
		}
		if progress != nil && a.status.Episodes > episodes {
			progress(a.Status())
		}
	}
	return nil
}

// Step takes one step in the environment, and the updates that are due. It returns an
// error of kind Invalid if the reward is not finite, and one of kind Internal if the
// training diverged; then the agent must not be used any more.
func (a *Agent) Step() error {
	if !a.running {
		a.begin()
	}
	a.choose()
	step := a.Env.Step(a.action)
	a.t++
	if err := a.see(step); err != nil {
		return err
	}
	a.status.Steps++
	s := a.Settings
	if a.status.Steps < s.Starts || a.status.Steps%s.Every != 0 || a.replay.valid == 0 {
		return nil
	}
	shift, factor := a.rewards.scale()
	for range s.Updates {
		if err := a.learn.update(a.replay, shift, factor, a.updates); err != nil {
			return err
		}
	}
	return nil
}

// begin starts an episode.
func (a *Agent) begin() {
	a.world = rng.Source(a.Seed, "sac episode", uint64(a.status.Episodes))
	step := a.Env.Reset(rand.New(a.world))
	a.running, a.t, a.total = true, 0, 0
	a.observe(step)
	a.replay.begin(a.obs)
}

// observe stores the inputs of the networks after a step.
func (a *Agent) observe(step idrl.TimeStep) {
	for i, v := range step.Obs {
		a.obs[i] = float32(v)
	}
	if a.Settings.Time {
		a.obs[a.shape.obs] = timeLeft(a.t, a.spec.Horizon)
	}
}

// timeLeft is the time feature after t of horizon steps.
func timeLeft(t, horizon int) float32 { return float32(max(0, horizon-t)) / float32(horizon) }

// choose draws the action of the next step.
func (a *Agent) choose() {
	if a.status.Steps < a.Settings.Starts {
		for i := range a.act {
			a.act[i] = float32(2*a.actions.Float64() - 1)
		}
	} else {
		a.actor.sample(a.act, a.obs, a.actions)
	}
	a.scale.real(a.action, a.act)
}

// see stores the transition to step with its reward.
func (a *Agent) see(step idrl.TimeStep) error {
	if step.Broken {
		a.running = false
		a.status.Episodes++
		a.status.Broken++
		return nil
	}
	for i := range a.phi {
		a.phi[i] = float32(step.Phi[i])
	}
	a.label.put(a.shape, a.obs[:a.shape.obs], a.act, a.phi)
	rewards, err := a.label.take(a.shape, a.Reward)
	if err != nil {
		return err
	}
	a.rewards.add(float64(rewards[0]))
	a.total += float64(rewards[0])
	a.observe(step)
	a.replay.add(a.act, rewards[0], a.phi, a.obs, step.Kind)
	if step.Kind.Last() {
		a.running = false
		a.status.Episodes++
		a.status.Return = a.total
	}
	return nil
}

// SetReward continues with another reward, which it also gives to all transitions in the replay. It
// returns an error of kind Invalid if a reward is not finite; then the agent cannot be used any
// more.
func (a *Agent) SetReward(f Reward) error {
	m, err := a.replay.relabel(f, a.label)
	if err != nil {
		return err
	}
	a.Reward, a.rewards = f, m
	return nil
}
