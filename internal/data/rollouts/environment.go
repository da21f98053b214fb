package rollouts

import (
	"image"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
)

// Environment returns what a session over uploaded clips has for an environment: what it is, by
// the settings of the session, and nothing that could be played.
func Environment(spec idrl.SessionSpec) idrl.Environment { return &film{spec: specOf(spec, 0.1)} }

func specOf(spec idrl.SessionSpec, stepSeconds float64) idrl.EnvSpec {
	names := spec.Features
	return idrl.EnvSpec{
		ID: idrl.RolloutsEnv, Version: version, FeatureNames: names, PriorScale: spec.PriorScale, ObsDim: 1, Actions: idrl.ActionSpec{Low: []float64{-1}, High: []float64{1}},
		StepSeconds: stepSeconds, Horizon: MaxSteps, Discount: 1, ClipSteps: MaxSteps, Playback: 1, StillLabel: foreign.DefaultMoment,
	}
}

// A film is an environment that was played elsewhere. Its states are the numbers of its frames.
type film struct {
	spec    idrl.EnvSpec
	at      int
	happens drawing.Happening // in the whole clip
}

var (
	_ idrl.Environment = (*film)(nil)
	_ idrl.Snapshotter = (*film)(nil)
	_ drawing.Namer    = (*film)(nil)
)

func (f *film) Spec() idrl.EnvSpec { return f.spec }

// Reset and Step panic: whoever trains in sessions over uploaded clips has made a mistake.
func (f *film) Reset(*rand.Rand) idrl.TimeStep   { panic("rollouts: nothing can be played") }
func (f *film) Step(idrl.Action) idrl.TimeStep   { panic("rollouts: nothing can be played") }
func (f *film) Snapshot(dst []float64) []float64 { return append(dst[:0], float64(f.at)) }
func (f *film) Restore(s []float64)              { f.at = int(s[0]) }

// Name returns what the upload says.
func (f *film) Name([][]float64) drawing.Happening { return f.happens }

// drawn shows scenes.
type drawn struct {
	film
	scenes []drawing.Scene
}

var _ drawing.Drawer = (*drawn)(nil)

func (d *drawn) Draw(dst *drawing.Scene) {
	*dst = d.scenes[d.at]
	dst.Static, dst.Moving = slices.Clone(dst.Static), slices.Clone(dst.Moving)
}

// pictured shows pictures.
type pictured struct {
	film
	pictures []image.Image
}

var _ drawing.Pictured = (*pictured)(nil)

func (p *pictured) Picture() (image.Image, error) { return p.pictures[p.at], nil }
