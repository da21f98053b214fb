package tapetest

import (
	"math/rand/v2"

	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// Env plays the same tape from every state. A state is its number.
type Env struct {
	Film    *clip.Tape
	PerStep int     // frames of a step
	Rate    float64 // frames per second
	Said    string  // what Narrate returns
	Err     error   // of Tape

	t float64
}

var (
	_ clip.Taped       = (*Env)(nil)
	_ idrl.Snapshotter = (*Env)(nil)
)

// Spec implements idrl.Environment.
func (e *Env) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{
		ID: "tape", Actions: idrl.ActionSpec{Num: 1}, ObsDim: 1, FeatureNames: []string{"time"},
		StepSeconds: float64(e.PerStep) / e.Rate, Horizon: 1000, Discount: 1, ClipSteps: 10, Playback: 1, StillLabel: "this moment",
	}
}

// Reset implements idrl.Environment.
func (e *Env) Reset(*rand.Rand) idrl.TimeStep {
	e.t = 0
	return e.step()
}

// Step implements idrl.Environment.
func (e *Env) Step(idrl.Action) idrl.TimeStep {
	e.t++
	return e.step()
}

func (e *Env) step() idrl.TimeStep {
	return idrl.TimeStep{Obs: []float64{e.t}, Phi: []float64{1}}
}

// Snapshot implements idrl.Snapshotter.
func (e *Env) Snapshot(dst []float64) []float64 { return append(dst[:0], e.t) }

// Restore implements idrl.Snapshotter.
func (e *Env) Restore(s []float64) { e.t = s[0] }

// Tape implements clip.Taped.
func (e *Env) Tape([]float64, int) (*clip.Tape, int, error) { return e.Film, e.PerStep, e.Err }

// Narrate implements drawing.Narrator.
func (e *Env) Narrate(_, _ []float64) string { return e.Said }

// Clip returns a clip of a number of steps from state 0 on.
func Clip(steps int) idrl.Clip {
	c := idrl.Clip{ID: "c", Steps: steps, Phi: []float64{1.25}}
	for i := range steps + 1 {
		c.Snapshots = append(c.Snapshots, []float64{float64(i)})
	}
	return c
}
