package mujoco

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// A task turns a model into an environment: observations, features, noise. It is
// immutable.
type task struct {
	spec idrl.EnvSpec // but for Actions and StepSeconds where they are the model's
	skip int          // engine steps of an environment step
	memo int          // numbers that a snapshot holds besides the engine's state

	length  float64 // of the robot, m, in corridors; else 0
	travels bool    // forward is along x: clips say how far it goes

	// The following read the state of e, whose engine is at the end of a step.
	reset      func(e *Env, rng *rand.Rand)               // draws the first state
	before     func(e *Env)                               // sees the state before a step, besides e.from and e.held; may be nil
	control    func(e *Env, a idrl.Action)                // sets the controls; nil: they are the action
	after      func(e *Env)                               // changes the state after a step; may be nil
	observe    func(e *Env, dst []float64)                // length ObsDim
	phi        func(e *Env, a idrl.Action, dst []float64) // length d; follows observe
	remember   func(e *Env)                               // notes in e.note, at the end of a reset or step, what the next step needs and the engine's state does not hold; may be nil
	unstable   func(e *Env) bool                          // Gym would end the episode here; may be nil
	fallen     func(e *Env) bool                          // the robot lies; nil: it cannot fall
	name       func(c *course) drawing.Happening          // names a clip for people; nil: clips have no names
	turned     func(e *Env) float64                       // idrl.Turner; nil: it is not known
	appearance appearance
}

// Env is an environment of the engine. A snapshot is the step, the engine's time,
// positions, velocities, warm start, actuator states, the controls of the step
// that led there, and the task's memo. A step depends on nothing else.
type Env struct {
	*task
	m    *engine.Model
	d    *engine.Data
	pose *engine.Data // for pictures, so that they do not touch d; nil until first drawn
	ends bool         // at states that Gym would end the episode at

	t     int       // steps taken
	over  bool      // the episode has ended before the horizon
	note  []float64 // the task's memo
	from  []float64 // positions before the step under way
	held  []float64 // controls of the step before it, at first 0
	obs   []float64
	feats []float64
	scene stage
}

var (
	_ drawing.Drawer     = (*Env)(nil)
	_ idrl.Snapshotter   = (*Env)(nil)
	_ drawing.Substepper = (*Env)(nil)
	_ idrl.Turner        = (*Env)(nil)
	_ drawing.Narrator   = (*Env)(nil)
	_ drawing.Namer      = (*Env)(nil)
	_ drawing.Guided     = (*Env)(nil)
)

// newEnv returns an environment of a task with a model of its own kind.
func newEnv(t *task, m *engine.Model) (*Env, error) {
	d, err := m.NewData()
	if err != nil {
		return nil, fmt.Errorf("environment %s: %w", t.spec.ID, err)
	}
	return &Env{
		task: t, m: m, d: d, note: make([]float64, t.memo),
		from: make([]float64, m.NQ), held: make([]float64, m.NU),
		obs: make([]float64, t.spec.ObsDim), feats: make([]float64, t.spec.FeatureDim()),
	}, nil
}

// Spec describes the environment.
func (e *Env) Spec() idrl.EnvSpec { return e.spec }

// Reclip sets the form of clips. It panics if one does not fit into an episode or does not
// play.
func (e *Env) Reclip(steps int, playback float64) {
	if steps < 1 || steps > e.spec.Horizon || !(playback > 0) {
		panic(fmt.Sprintf("mujoco: clips of %d steps at speed %v", steps, playback))
	}
	t := *e.task
	t.spec.ClipSteps, t.spec.Playback = steps, playback
	e.task = &t
}

// Reset starts an episode with the noise of the task. Where the simulation
// breaks down already there, as a user's own model may, the first step says so.
func (e *Env) Reset(rng *rand.Rand) idrl.TimeStep {
	e.fresh()
	e.task.reset(e, rng)
	e.must(e.d.Forward())
	if e.observe(e, e.obs); !finite(e.obs) {
		clear(e.obs)
	}
	if e.remember != nil {
		e.remember(e)
	}
	runtime.KeepAlive(e)
	return idrl.TimeStep{Kind: idrl.First, Obs: e.obs}
}

// fresh returns the engine to the model's first state.
func (e *Env) fresh() {
	e.must(e.d.Reset())
	e.t, e.over = 0, false
	clear(e.note)
}

// must panics on an error of the engine that no state can cause.
func (e *Env) must(err error) {
	if err != nil && !errors.Is(err, engine.ErrBroken) {
		panic(fmt.Sprintf("mujoco: %v", err))
	}
}

// yieldSteps is the number of steps after which a goroutine yields. A goroutine that
// runs for 10 ms without yielding is preempted within a call into the engine, and then
// the scheduler's monitor wakes every 20 µs for a while: 5 to 16 % of the CPU time of
// fast tasks (BenchmarkStep).
const yieldSteps = 32

// Step applies a for one step of the task. If the simulation breaks down the
// episode ends there, Truncated and Broken, with observation and features 0.
func (e *Env) Step(a idrl.Action) idrl.TimeStep {
	if e.over || e.t >= e.spec.Horizon {
		panic("mujoco: the episode has ended")
	}
	if !e.spec.Actions.Contains(a) {
		panic("mujoco: not an action of this environment")
	}
	e.t++
	if e.t%yieldSteps == 0 {
		runtime.Gosched()
	}
	if !e.advance(a) {
		return e.breakDown()
	}
	e.observe(e, e.obs)
	e.phi(e, a, e.feats)
	if e.remember != nil {
		e.remember(e)
	}
	runtime.KeepAlive(e)
	if !finite(e.feats) || !finite(e.obs) {
		return e.breakDown()
	}
	return idrl.TimeStep{Kind: e.kind(), Obs: e.obs, Phi: e.feats}
}

// advance moves the engine by one step. It reports whether that went well.
func (e *Env) advance(a idrl.Action) bool {
	if e.before != nil {
		e.before(e)
	}
	copy(e.from, e.d.QPos)
	copy(e.held, e.d.Ctrl)
	if e.control != nil {
		e.control(e, a)
	} else {
		copy(e.d.Ctrl, a)
	}
	if err := e.d.Step(e.skip); err != nil {
		return false
	}
	if e.after != nil {
		e.after(e)
	}
	return true
}

func (e *Env) kind() idrl.StepKind {
	switch {
	case e.ends && e.unstable != nil && e.unstable(e):
		e.over = true
		return idrl.Terminated
	case e.t == e.spec.Horizon:
		return idrl.Truncated
	default:
		return idrl.Mid
	}
}

// breakDown ends the episode after a breakdown of the simulation. It replaces the
// state, which may not be finite, by the model's first one.
func (e *Env) breakDown() idrl.TimeStep {
	t := e.t
	e.fresh()
	e.t, e.over = t, true
	clear(e.feats)
	clear(e.obs)
	return idrl.TimeStep{Kind: idrl.Truncated, Obs: e.obs, Phi: e.feats, Broken: true}
}

// Snapshot appends the present state to dst[:0] and returns it.
func (e *Env) Snapshot(dst []float64) []float64 {
	dst = append(dst[:0], float64(e.t), e.d.Time())
	for _, part := range e.parts() {
		dst = append(dst, part...)
	}
	runtime.KeepAlive(e)
	return dst
}

// parts are the slices that make up a snapshot behind step and time.
func (e *Env) parts() [6][]float64 {
	return [6][]float64{e.d.QPos, e.d.QVel, e.d.Warmstart, e.d.Act, e.d.Ctrl, e.note}
}

// Restore returns to a state that Snapshot returned.
func (e *Env) Restore(s []float64) {
	if len(s) < 2 || !(s[0] >= 0 && s[0] <= float64(e.spec.Horizon)) {
		panic("mujoco: not a snapshot of this environment")
	}
	e.fresh()
	e.t = int(s[0])
	e.d.SetTime(s[1])
	rest := s[2:]
	for _, part := range e.parts() {
		if len(rest) < len(part) {
			panic("mujoco: not a snapshot of this environment")
		}
		rest = rest[copy(part, rest):]
	}
	if len(rest) > 0 {
		panic("mujoco: not a snapshot of this environment")
	}
	runtime.KeepAlive(e)
}

// Fallen reports whether the robot lies in the present state. It is false for a robot that
// cannot fall.
func (e *Env) Fallen() bool { return e.fallen != nil && e.fallen(e) }

// Turned returns how far the trunk has turned over, in radians; 0 if that is not known.
func (e *Env) Turned() float64 {
	if e.turned == nil {
		return 0
	}
	return e.turned(e)
}

// onItsBack is the cosine of the tilt of a trunk below which a robot lies on its side or
// back.
const onItsBack = 0.25

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
