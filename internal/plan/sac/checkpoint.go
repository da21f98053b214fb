package sac

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"tiebreak/internal/base/nn"
	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// A checkpoint is everything besides its Config that determines an agent's next steps.
type checkpoint struct {
	Of string // Settings.name

	Status  Status
	T       int
	Running bool
	Total   float64
	Rewards moments
	Obs     []float32
	Env     []float64 // snapshot; nil between episodes

	Acts, Draws, World []byte // states of random streams

	Updates int
	Loss    float64
	Entropy float64
	Heat    temperature
	Actor   frozen
	Critics [2]frozen
	Targets [2][]float32

	Rows  []float32 // of the replay that were written
	Kinds []byte
	Pos   int
}

// frozen is a network and its optimiser.
type frozen struct {
	Params []float32
	Adam   nn.OptimiserState
}

func (t trained) freeze() frozen { return frozen{t.net.Params(nil), t.opt.State()} }

func (t trained) thaw(f frozen) error {
	return errors.Join(t.net.SetParams(f.Params), t.opt.SetState(f.Adam))
}

// Checkpoint returns the state of the training, between two steps. Almost all of it is
// the replay: 4·(observations + actions + 1, and 1 for the time and d for features where
// they are kept) bytes, and 1, for each row so far.
func (a *Agent) Checkpoint() ([]byte, error) {
	l, r := a.learn, a.replay
	c := checkpoint{
		Of:     a.Settings.name(a.spec, a.Seed),
		Status: a.status, T: a.t, Running: a.running, Total: a.total, Rewards: a.rewards, Obs: a.obs,
		Updates: l.updates, Loss: l.loss, Entropy: l.surprise, Heat: l.heat, Actor: l.actor.freeze(),
		Rows: r.data[:r.used*r.width], Kinds: r.kind[:r.used], Pos: r.pos,
	}
	for i, critic := range l.critics {
		c.Critics[i], c.Targets[i] = critic.freeze(), critic.target.Params(nil)
	}
	if env, ok := a.Env.(idrl.Snapshotter); ok && a.running {
		c.Env = env.Snapshot(nil)
	}
	for _, s := range []struct {
		dst *[]byte
		src *rand.ChaCha8
	}{{&c.Acts, a.acts}, {&c.Draws, a.draws}, {&c.World, a.world}} {
		var err error
		if *s.dst, err = s.src.MarshalBinary(); err != nil {
			return nil, fmt.Errorf("checkpoint of a training: %w", err)
		}
	}
	return pack.Encode(&c)
}

// Resume returns the agent that Checkpoint saved. It continues with the same bytes if c is the
// configuration of that agent: the same settings and seed, an equal environment, and its last
// reward. It returns an error of kind Damaged if b is not a checkpoint of this version, and one of
// kind Invalid if it is of another training or if New refuses c.
func Resume(c Config, b []byte) (*Agent, error) {
	a, err := New(c)
	if err != nil {
		return nil, err
	}
	saved, err := pack.Decode[checkpoint](b)
	if err != nil {
		return nil, idrl.Errorf(idrl.Damaged, "the checkpoint of a training cannot be read: %v", err)
	}
	if want := c.Settings.name(a.spec, c.Seed); saved.Of != want {
		return nil, idrl.Errorf(idrl.Invalid, "the checkpoint is of another training: %q, not %q", saved.Of, want)
	}
	if err := a.restore(&saved); err != nil {
		return nil, idrl.Errorf(idrl.Damaged, "the checkpoint of a training is damaged: %v", err)
	}
	return a, nil
}

func (a *Agent) restore(c *checkpoint) error {
	if c.T < 0 || c.T > a.spec.Horizon || c.Running && c.T == a.spec.Horizon || c.Status.Steps < 0 || c.Status.Episodes < 0 || c.Updates < 0 || len(c.Obs) != len(a.obs) {
		return errors.New("a count or a length is wrong")
	}
	a.status, a.t, a.running, a.total, a.rewards = c.Status, c.T, c.Running, c.Total, c.Rewards
	copy(a.obs, c.Obs)
	if err := errors.Join(a.replay.restore(c), a.learn.restore(c)); err != nil {
		return err
	}
	if c.Running {
		if err := a.resumeEpisode(c.Env); err != nil {
			return err
		}
	}
	return errors.Join(a.acts.UnmarshalBinary(c.Acts), a.draws.UnmarshalBinary(c.Draws), a.world.UnmarshalBinary(c.World))
}

// resumeEpisode restores the environment from a snapshot, in an episode that draws from a.world.
// Environments panic on a snapshot that is not theirs.
func (a *Agent) resumeEpisode(snapshot []float64) (err error) {
	env, ok := a.Env.(idrl.Snapshotter)
	if !ok {
		return errors.New("the environment cannot be restored")
	}
	a.world = rng.Source(a.Seed, "sac episode", 0) // set to its place afterwards
	a.Env.Reset(rand.New(a.world))
	if want := len(env.Snapshot(nil)); len(snapshot) != want {
		return fmt.Errorf("a snapshot of %d numbers, not %d", len(snapshot), want)
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the environment refuses the snapshot: %v", v)
		}
	}()
	env.Restore(snapshot)
	return nil
}

func (r *replay) restore(c *checkpoint) error {
	used := len(c.Kinds)
	if used > len(r.kind) || len(c.Rows) != used*r.width || c.Pos < 0 || c.Pos >= max(1, used) {
		return errors.New("the replay has the wrong size")
	}
	for i, k := range c.Kinds {
		if k > final || i == c.Pos && k != open {
			return fmt.Errorf("row %d of the replay is of kind %d", i, k)
		}
		if k != open {
			r.valid++
		}
	}
	copy(r.data, c.Rows)
	copy(r.kind, c.Kinds)
	r.used, r.pos = used, c.Pos
	return nil
}

func (l *learner) restore(c *checkpoint) error {
	for _, v := range []float64{c.Heat.Log, c.Heat.M, c.Heat.V, c.Loss, c.Entropy} {
		if math.IsNaN(v) || math.IsInf(v, 0) || c.Heat.V < 0 {
			return errors.New("the temperature is not a number")
		}
	}
	l.updates, l.loss, l.surprise, l.heat = c.Updates, c.Loss, c.Entropy, c.Heat
	errs := []error{l.actor.thaw(c.Actor)}
	for i, critic := range l.critics {
		errs = append(errs, critic.thaw(c.Critics[i]), critic.target.SetParams(c.Targets[i]))
	}
	return errors.Join(errs...)
}
