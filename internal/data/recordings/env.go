package recordings

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// New returns an environment that plays the rollouts of s: an episode is one of them, whatever
// the actions are. Which one is drawn at Reset, unless a Policy of s says so (trainer.Recorded).
// It draws itself in scenes (drawing.Drawer), or shows itself in pictures (drawing.Pictured,
// clip.Filmed), or what cameras filmed (clip.Taped), unless s is Unseen. It is idrl.Fallible: files may be gone.
func (s *Set) New() idrl.Environment {
	e := &Env{set: s, spec: s.spec(), next: -1}
	switch {
	case s.x.Unseen:
		return e
	case s.x.Filmed != nil:
		return &taped{e}
	case s.x.Scenes:
		return &scenic{e}
	}
	return &pictured{e}
}

func (s *Set) spec() idrl.EnvSpec {
	x := &s.x
	horizon := 1
	for _, e := range x.Rollouts {
		horizon = max(horizon, e.Steps)
	}
	return idrl.EnvSpec{
		ID: s.ID(), Version: 1, Actions: idrl.ActionSpec{Low: x.Low, High: x.High}, ObsDim: x.Obs, FeatureNames: x.Features, PriorScale: x.Scale,
		StepSeconds: x.StepSeconds, Horizon: horizon, Discount: x.Discount, ClipSteps: x.ClipSteps, Playback: x.Playback, StillLabel: x.Moment,
	}
}

// An Env plays the rollouts of a Set.
type Env struct {
	set  *Set
	spec idrl.EnvSpec
	next int // rollout of the next episode; -1: one is drawn

	at, t int // rollout and step of the present state
	now   *opened
	ended bool
	err   error
}

var (
	_ idrl.Fallible    = (*Env)(nil)
	_ idrl.Snapshotter = (*Env)(nil)
	_ drawing.Namer    = (*Env)(nil)
	_ drawing.Narrator = (*Env)(nil)
)

// Set returns the rollouts that e plays.
func (e *Env) Set() *Set { return e.set }

// Spec implements idrl.Environment.
func (e *Env) Spec() idrl.EnvSpec { return e.spec }

// Err implements idrl.Fallible.
func (e *Env) Err() error { return e.err }

// Close implements idrl.Fallible.
func (e *Env) Close() error { return nil }

func (e *Env) begin(i int) *Env {
	e.next = i
	return e
}

func (e *Env) action(t int) []float64 {
	if e.now == nil || t >= len(e.now.Actions) {
		return nil
	}
	return e.now.Actions[t]
}

// open has e be in a state of a rollout.
func (e *Env) open(i, t int) bool {
	o, err := e.set.load(i)
	if err != nil {
		e.err = err
		return false
	}
	e.at, e.t, e.now, e.ended = i, t, o, t >= len(o.Actions)
	return true
}

// Reset implements idrl.Environment.
func (e *Env) Reset(rng *rand.Rand) idrl.TimeStep {
	i := e.next
	if i < 0 {
		i = rng.IntN(len(e.set.x.Rollouts))
	}
	e.next = -1
	if !e.open(i, 0) {
		return idrl.TimeStep{Kind: idrl.First, Obs: make([]float64, e.spec.ObsDim), Broken: true}
	}
	return idrl.TimeStep{Kind: idrl.First, Obs: e.now.Obs[0]}
}

// Step implements idrl.Environment: the rollout goes on.
func (e *Env) Step(a idrl.Action) idrl.TimeStep {
	if e.err != nil {
		return idrl.TimeStep{Kind: idrl.Truncated, Obs: make([]float64, e.spec.ObsDim), Phi: make([]float64, e.spec.FeatureDim()), Broken: true}
	}
	if e.now == nil || e.ended {
		panic("rollouts: Step before Reset or after the end of an episode")
	}
	if !e.spec.Actions.Contains(a) {
		panic(fmt.Sprintf("rollouts: %v is no action", a))
	}
	e.t++
	step := idrl.TimeStep{Kind: idrl.Mid, Obs: e.now.Obs[e.t], Phi: e.now.Phi[e.t-1]}
	if e.ended = e.t == len(e.now.Actions); e.ended {
		step.Kind = idrl.Truncated
		if e.now.Terminated {
			step.Kind = idrl.Terminated
		}
	}
	return step
}

// Snapshot implements idrl.Snapshotter: the rollout and the step.
func (e *Env) Snapshot(dst []float64) []float64 {
	return append(dst[:0], float64(e.at), float64(e.t))
}

// Restore implements idrl.Snapshotter.
func (e *Env) Restore(s []float64) { e.open(int(s[0]), int(s[1])) }

// Name implements drawing.Namer: what the description of the rollout says.
func (e *Env) Name(states [][]float64) drawing.Happening {
	return e.set.x.Rollouts[int(states[0][0])].Read()
}

// Narrate implements drawing.Narrator: what the policy was to do.
func (e *Env) Narrate(first, _ []float64) string {
	if task := e.set.x.Rollouts[int(first[0])].Task; task != "" {
		return "Task: " + task
	}
	return ""
}

// scenic is an Env of scenes.
type scenic struct{ *Env }

var _ drawing.Drawer = (*scenic)(nil)

// Draw implements drawing.Drawer.
func (s *scenic) Draw(dst *drawing.Scene) {
	*dst = drawing.Scene{Camera: drawing.Camera{W: 1, H: 1}}
	if s.now == nil {
		return
	}
	scene := s.now.scenes[s.t]
	*dst = drawing.Scene{Camera: scene.Camera, Static: slices.Clone(scene.Static), Moving: slices.Clone(scene.Moving)}
}

// pictured is an Env of pictures.
type pictured struct{ *Env }

var (
	_ drawing.Pictured = (*pictured)(nil)
	_ clip.Filmed      = (*pictured)(nil)
)

// Reel implements clip.Filmed.
func (p *pictured) Reel(snapshot []float64) (reel *clip.Reel, frame, perStep int, err error) {
	if !p.open(int(snapshot[0]), int(snapshot[1])) {
		return nil, 0, 0, p.err
	}
	return p.now.reel, p.t * p.set.x.PerStep, p.set.x.PerStep, nil
}

// Picture implements drawing.Pictured.
func (p *pictured) Picture() (image.Image, error) {
	if p.err != nil || p.now == nil {
		return nil, p.err
	}
	r := p.now.reel
	k := r.Show[p.t*p.set.x.PerStep]
	if r.Kinds[k] == "png" {
		return png.Decode(bytes.NewReader(r.Files[k]))
	}
	return jpeg.Decode(bytes.NewReader(r.Files[k]))
}
