package pointmass

import (
	"math"
	"math/rand/v2"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// ID is EnvSpec.ID.
const ID = "pointmass"

// Config describes a point mass. A zero field takes its default.
type Config struct {
	Horizon   int     // steps of an episode; default 60
	ClipSteps int     // default 10
	Limit     float64 // distance from the origin at which the simulation breaks down, metres; default none
	Search    idrl.Search
}

// Env is a mass on a line that a force pushes against friction. It starts at rest
// within half a metre of the origin. Each step is made of substeps of the same
// force:
//
//	v += (2 force − v/2)·h
//	x += v·h,  h = 0.05 s
//
// A snapshot is the step, x, v, and the force of the step that led there.
type Env struct {
	cfg         Config
	t           int
	x, v, force float64 // metres, metres per second, and a number in [-1, 1]
	broken      bool
}

var _ drawing.Substepper = (*Env)(nil)

const (
	substeps   = 4
	substepSec = 0.05
)

// New returns an environment.
func New(cfg Config) *Env {
	if cfg.Horizon == 0 {
		cfg.Horizon = 60
	}
	if cfg.ClipSteps == 0 {
		cfg.ClipSteps = 10
	}
	if cfg.Limit == 0 {
		cfg.Limit = math.Inf(1)
	}
	return &Env{cfg: cfg}
}

// Spec describes the environment.
func (e *Env) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID:           ID,
		Actions:      idrl.ActionSpec{Low: []float64{-1}, High: []float64{1}},
		ObsDim:       3, // x, v, 1
		FeatureNames: []string{"Moving right", "Effort", "Nearness to the mark"},
		StepSeconds:  substeps * substepSec,
		Horizon:      e.cfg.Horizon,
		Discount:     1,
		ClipSteps:    e.cfg.ClipSteps,
		Playback:     1,
		StillLabel:   "this moment",
		Search:       e.cfg.Search,
	}
}

// Reset starts an episode.
func (e *Env) Reset(rng *rand.Rand) idrl.TimeStep {
	e.Restore([]float64{0, rng.Float64() - 0.5, 0, 0})
	return idrl.TimeStep{Kind: idrl.First, Obs: e.observe()}
}

// Step pushes with the force a.
func (e *Env) Step(a idrl.Action) idrl.TimeStep {
	if e.t >= e.cfg.Horizon || e.broken || !e.Spec().Actions.Contains(a) {
		panic("pointmass: the episode has ended, or this is no action")
	}
	e.force = a[0]
	for range substeps {
		e.move()
	}
	e.t++
	e.broken = math.Abs(e.x) > e.cfg.Limit
	kind := idrl.Mid
	if e.broken || e.t == e.cfg.Horizon {
		kind = idrl.Truncated
	}
	near := 1 / (1 + (e.x-mark)*(e.x-mark))
	return idrl.TimeStep{Kind: kind, Obs: e.observe(), Phi: []float64{math.Tanh(e.v), e.force * e.force, near}, Broken: e.broken}
}

func (e *Env) move() {
	e.v += (2*e.force - e.v/2) * substepSec
	e.x += e.v * substepSec
}

func (e *Env) observe() []float64 { return []float64{e.x, e.v, 1} }

// Snapshot appends the present state to dst[:0] and returns it.
func (e *Env) Snapshot(dst []float64) []float64 {
	return append(dst[:0], float64(e.t), e.x, e.v, e.force)
}

// Restore returns to a state that Snapshot returned.
func (e *Env) Restore(s []float64) {
	e.t, e.x, e.v, e.force, e.broken = int(s[0]), s[1], s[2], s[3], false
}

// Substeps returns the number of frames that a step is drawn in.
func (e *Env) Substeps() int { return substeps }

// DrawStep draws the substeps that led from one snapshot to another.
func (e *Env) DrawStep(before, after []float64, frame func(*drawing.Scene)) {
	var scene drawing.Scene
	e.Restore(before)
	e.force = after[3]
	for range substeps - 1 {
		e.move()
		e.Draw(&scene)
		frame(&scene)
	}
	e.Restore(after)
	e.Draw(&scene)
	frame(&scene)
}

// mark is the place of the mark on the floor, metres.
const mark = 2

// Draw stores the present state in dst.
func (e *Env) Draw(dst *drawing.Scene) {
	const r = 0.2 // of the ball, metres
	dst.Camera = drawing.Camera{X: e.x, Z: r, W: 4, H: 3, Distance: 6, Azimuth: math.Pi / 2, Elevation: 0.3}
	dst.Static = append(dst.Static[:0],
		drawing.Shape{Kind: drawing.Checker, Paint: drawing.Surface, Size: 0.5, Pts: []float64{0, 0, 0}},
		drawing.Shape{Kind: drawing.Polyline, Paint: drawing.Mark, Size: 0.05, Pts: []float64{mark, -1, 0, mark, 1, 0}},
	)
	dst.Moving = append(dst.Moving[:0],
		drawing.Shape{Kind: drawing.Ball, Paint: drawing.Agent, Size: r, Pts: []float64{e.x, 0, r}, Trail: true},
		drawing.Shape{Kind: drawing.Capsule, Paint: drawing.Other, Size: r / 4, Pts: []float64{e.x, 0, r, e.x - e.force, 0, r}},
		drawing.Shape{Kind: drawing.Box, Paint: drawing.Agent, Pts: []float64{e.x, 0, r / 4, e.x + r, 0, r / 4, e.x, r, r / 4, e.x, 0, r / 2}},
	)
}
