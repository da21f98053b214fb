package drawtest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// Walker returns the bytes of a solid clip of steps steps of 5 frames: a body with
// four legs walks on a checkered floor, over lines and past a box and letters. A
// step lasts 50 ms.
func Walker(steps int) []byte {
	var states [][]float64
	for i := range steps + 1 {
		states = append(states, []float64{float64(i)})
	}
	return encode(&walker{}, states)
}

// Record returns the bytes of a clip of an environment in which actions are taken
// at random, by seed, until there are steps of them or the episode ends.
func Record(env idrl.Environment, seed uint64, steps int) []byte {
	keeper := env.(idrl.Snapshotter)
	stream := rand.New(rand.NewPCG(seed, 0))
	spec := env.Spec().Actions
	act := func([]float64) idrl.Action {
		a := make(idrl.Action, spec.Dim())
		for i := range a {
			if spec.Num > 0 {
				a[i] = float64(stream.IntN(spec.Num))
			} else {
				a[i] = spec.Low[i] + (spec.High[i]-spec.Low[i])*stream.Float64()
			}
		}
		return a
	}
	var states [][]float64
	for range idrl.Episode(env, act, stream) {
		if states = append(states, keeper.Snapshot(nil)); len(states) > steps {
			break
		}
	}
	return encode(env, states)
}

func encode(env idrl.Environment, states [][]float64) []byte {
	b, err := clip.Encode(env, idrl.Clip{ID: "c", Steps: len(states) - 1, Phi: []float64{0}, Snapshots: states})
	if err != nil {
		panic(fmt.Sprintf("drawtest: %v", err))
	}
	return b
}

// substeps is the number of frames of a walker's step.
const substeps = 5

// A walker's snapshot is its number of steps.
type walker struct{ t float64 }

func (w *walker) Spec() idrl.EnvSpec {
	return idrl.EnvSpec{ID: "walker", FeatureNames: []string{"F"}, StepSeconds: 0.05, Playback: 1}
}
func (w *walker) Reset(*rand.Rand) idrl.TimeStep   { return idrl.TimeStep{} }
func (w *walker) Step(idrl.Action) idrl.TimeStep   { return idrl.TimeStep{} }
func (w *walker) Snapshot(dst []float64) []float64 { return append(dst[:0], w.t) }
func (w *walker) Restore(s []float64)              { w.t = s[0] }
func (w *walker) Substeps() int                    { return substeps }

func (w *walker) DrawStep(before, _ []float64, frame func(*drawing.Scene)) {
	var s drawing.Scene
	for k := range substeps {
		w.t = before[0] + float64(k+1)/substeps
		w.Draw(&s)
		frame(&s)
	}
}

func (w *walker) Draw(dst *drawing.Scene) {
	x, y := 0.08*w.t, 0.3*math.Sin(0.15*w.t)
	*dst = drawing.Scene{
		Camera: drawing.Camera{X: x, Z: 0.5, W: 4, H: 3, Distance: 5, Azimuth: 1.8, Elevation: 0.35},
		Static: []drawing.Shape{
			{Kind: drawing.Checker, Paint: drawing.Surface, Size: 1, Pts: []float64{0, 0, 0}},
			{Kind: drawing.Polyline, Paint: drawing.Other, Size: 0.06, Pts: []float64{2, -3, 0, 2, 0, 0, 2.5, 3, 0}},
			{Kind: drawing.Circle, Paint: drawing.Focus, Size: 0.3, Pts: []float64{1, 1.5, 0}},
			{Kind: drawing.Polygon, Paint: drawing.Detail, Pts: []float64{-1, 2, 0, 0, 2, 0, 0, 2.6, 0, -1, 2.6, 0}},
			{Kind: drawing.Box, Paint: drawing.Wall, Pts: []float64{1.8, 1, 0.3, 2.1, 1, 0.3, 1.8, 1.3, 0.3, 1.8, 1, 0.6}},
			{Kind: drawing.Text, Paint: drawing.Ink, Size: 0.3, Pts: []float64{-1, 1.5, 0.15}, Text: "A1"},
		},
		Moving: w.body(x, y),
	}
}

// body returns a trunk and four legs of three limbs.
func (w *walker) body(x, y float64) []drawing.Shape {
	trunk := []float64{x, y, 0.55 + 0.05*math.Sin(0.8*w.t)}
	out := []drawing.Shape{{Kind: drawing.Ball, Paint: drawing.Agent, Size: 0.25, Pts: trunk, Trail: true}}
	for leg := range 4 {
		at := trunk
		yaw := math.Pi/4 + float64(leg)*math.Pi/2 + 0.3*math.Sin(0.4*w.t+float64(leg))
		for _, limb := range []struct{ length, pitch float64 }{{0.28, 0}, {0.28, 0.2}, {0.55, -1 + 0.4*math.Sin(0.7*w.t+2*float64(leg))}} {
			end := []float64{
				at[0] + limb.length*math.Cos(limb.pitch)*math.Cos(yaw),
				at[1] + limb.length*math.Cos(limb.pitch)*math.Sin(yaw),
				at[2] + limb.length*math.Sin(limb.pitch),
			}
			out = append(out, drawing.Shape{Kind: drawing.Capsule, Paint: drawing.Agent, Size: 0.08, Pts: append(append([]float64(nil), at...), end...)})
			at = end
		}
	}
	return out
}
