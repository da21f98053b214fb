package driver

import (
	"math"
	"math/rand/v2"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// ID names the environment in the catalogue.
const ID = "driver"

// Facts of the task. Lengths have no unit; a lane is laneWidth wide.
const (
	horizon   = 50  // steps of an episode
	hold      = 10  // steps for which an open-loop policy holds its action
	stepSec   = 0.1 // simulated seconds of a step
	friction  = 1.0 // deceleration per unit of speed, 1/s
	laneWidth = 0.17
	dim       = 5 // of the features
	obsDim    = 9
)

// car is the state of a vehicle: position, heading from the x axis in radians,
// and speed in units per second.
type car struct{ x, y, angleRad, speed float64 }

var (
	agentStart = car{0, -0.3, math.Pi / 2, 0.4}
	otherStart = car{laneWidth, 0, math.Pi / 2, 0.41}
)

// step returns the car one step later: explicit Euler with the old values on
// the right. turn and throttle lie in [-1, 1].
func (c car) step(turn, throttle float64) car {
	sin, cos := math.Sincos(c.angleRad)
	return car{
		x:        c.x + c.speed*cos*stepSec,
		y:        c.y + c.speed*sin*stepSec,
		angleRad: c.angleRad + c.speed*turn*stepSec,
		speed:    max(-1, min(1, rawSpeed(c.speed, throttle))),
	}
}

// rawSpeed is the next speed before it is clipped to [-1, 1].
func rawSpeed(speed, throttle float64) float64 {
	return speed + (throttle-friction*speed)*stepSec
}

// otherPlan returns the actions of the other car in step t.
func otherPlan(t int) (turn, throttle float64) {
	switch {
	case t < 10:
		return 0, 0.41
	case t < 20:
		return 1, 0.41
	case t < 30:
		return -1, 0.41
	default:
		return 0, 0.52
	}
}

// Env is the Driver environment. It draws no random numbers. Its observation
// has 9 numbers: x, y, heading and speed of the agent, the same of the other
// car, and the share of the episode that is over, in [0, 1]. Its action is
// (turn, throttle). A snapshot is x, y, heading, speed and the step.
type Env struct {
	other  [horizon + 1]car // where the other car is after t steps
	static []drawing.Shape  // what does not move; nil until first drawn

	agent car
	t     int // steps taken
	obs   [obsDim]float64
	phi   [dim]float64
}

var (
	_ drawing.Drawer      = (*Env)(nil)
	_ idrl.Snapshotter    = (*Env)(nil)
	_ idrl.Differentiable = (*Env)(nil)
	_ drawing.Guided      = (*Env)(nil)
	_ drawing.Namer       = (*Env)(nil)
)

// New returns the environment at the start of an episode.
func New() *Env {
	e := &Env{agent: agentStart}
	e.other[0] = otherStart
	for t := range horizon {
		e.other[t+1] = e.other[t].step(otherPlan(t))
	}
	return e
}

// Spec describes the environment.
func (e *Env) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID:      ID,
		Actions: idrl.ActionSpec{Low: []float64{-1, -1}, High: []float64{1, 1}, Hold: hold},
		ObsDim:  obsDim,
		FeatureNames: []string{
			"Keeping to a lane", "Off the target speed", "Facing forward",
			"Close to the other car", "Constant",
		},
		StepSeconds: stepSec,
		Horizon:     horizon,
		Discount:    1,
		ClipSteps:   horizon,
		Playback:    2,
		StillLabel:  "this moment",
	}
}

// Reset starts an episode. It does not use the stream: every episode starts alike.
func (e *Env) Reset(*rand.Rand) idrl.TimeStep {
	e.agent, e.t = agentStart, 0
	return idrl.TimeStep{Kind: idrl.First, Obs: e.observe()}
}

// Step turns by a[0] and accelerates by a[1], both in [-1, 1].
func (e *Env) Step(a idrl.Action) idrl.TimeStep {
	if e.t >= horizon {
		panic("driver: the episode has ended")
	}
	if len(a) != 2 || !(math.Abs(a[0]) <= 1 && math.Abs(a[1]) <= 1) {
		panic("driver: an action is two numbers in [-1, 1]")
	}
	e.agent = e.agent.step(a[0], a[1])
	e.t++
	e.phi = features(e.agent, e.other[e.t])
	kind := idrl.Mid
	if e.t == horizon {
		kind = idrl.Truncated
	}
	return idrl.TimeStep{Kind: kind, Obs: e.observe(), Phi: e.phi[:]}
}

// Snapshot appends the present state to dst[:0] and returns it.
func (e *Env) Snapshot(dst []float64) []float64 {
	return append(dst[:0], e.agent.x, e.agent.y, e.agent.angleRad, e.agent.speed, float64(e.t))
}

// Restore returns to a state that Snapshot returned.
func (e *Env) Restore(s []float64) {
	if len(s) != 5 || !(s[4] >= 0 && s[4] <= horizon) {
		panic("driver: not a snapshot of this environment")
	}
	e.agent, e.t = car{s[0], s[1], s[2], s[3]}, int(s[4])
}

func (e *Env) observe() []float64 {
	a, o := e.agent, e.other[e.t]
	e.obs = [obsDim]float64{
		a.x, a.y, a.angleRad, a.speed,
		o.x, o.y, o.angleRad, o.speed,
		float64(e.t) / horizon,
	}
	return e.obs[:]
}
