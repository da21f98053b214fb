package clip

import (
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/idrl"
)

// A film has the drawn frames of a clip.
type film struct {
	sub    int           // frames of a step
	frames int           // drawn so far
	first  drawing.Scene // without the points of its moving shapes
	counts []int         // points of each moving shape
	tracks []track       // of the camera's centre and the points of the moving shapes, in order
	fallen int           // number of states in which the robot lies
	note   string        // text for the clip
	marks  int           // shapes of drawing.Marker, the last ones of first.Static
	named  drawing.Happening
	err    error // first error
}

// A track is the path of a point, in world units: a column over the frames for each of its
// coordinates.
type track [][]float64

// shoot draws the states, which are stepSec seconds apart, and the frames between them.
func shoot(drawer drawing.Drawer, keeper idrl.Snapshotter, states [][]float64, stepSec float64) *film {
	f := &film{sub: 1}
	var scene drawing.Scene
	lying := idrl.NewLying(drawer)
	keeper.Restore(states[0])
	lying.Note()
	drawer.Draw(&scene)
	f.open(scene)
	finer, ok := drawer.(drawing.Substepper)
	if ok {
		f.sub = finer.Substeps()
	}
	for i, s := range states[1:] {
		if ok {
			finer.DrawStep(states[i], s, f.add)
			lying.Note()
			continue
		}
		keeper.Restore(s)
		lying.Note()
		drawer.Draw(&scene)
		f.add(&scene)
	}
	for _, lies := range lying.States(stepSec) {
		if lies {
			f.fallen++
		}
	}
	if _, ok := drawer.(drawing.Narrator); ok {
		f.note = narrated(drawer, states)
		keeper.Restore(states[len(states)-1])
	}
	if m, ok := drawer.(drawing.Marker); ok && len(states) > 1 {
		f.mark(m.Marks(states))
		keeper.Restore(states[len(states)-1])
	}
	if _, ok := drawer.(drawing.Namer); ok { // else it is in the last state, and may take long to get there again
		f.named = named(drawer, states)
		keeper.Restore(states[len(states)-1])
	}
	return f
}

// named returns what env says that a clip of states shows, nothing if it is no Namer. env may be left in
// another state.
func named(env any, states [][]float64) drawing.Happening {
	if n, ok := env.(drawing.Namer); ok {
		return n.Name(states)
	}
	return drawing.Happening{}
}

// narrated returns what env says of a clip of states, nothing if it is no Narrator. env may be left in
// another state.
func narrated(env any, states [][]float64) string {
	n, ok := env.(drawing.Narrator)
	switch last := states[len(states)-1]; {
	case !ok:
		return ""
	case len(states) == 1:
		return n.Narrate(last, nil)
	default:
		return n.Narrate(states[0], last)
	}
}

// mark adds marks on the ground. A Checker among them takes the place of that of the scene.
func (f *film) mark(marks []drawing.Shape) {
	checker := func(s drawing.Shape) bool { return s.Kind == drawing.Checker }
	floor := slices.IndexFunc(f.first.Static, checker)
	for _, s := range marks {
		if checker(s) && floor >= 0 {
			f.first.Static[floor] = s
			continue
		}
		f.first.Static = append(f.first.Static, s)
		f.marks++
	}
}

// open begins a film with its first scene.
func (f *film) open(scene drawing.Scene) {
	f.first = drawing.Scene{Camera: scene.Camera}
	dim := scene.Camera.PointDim()
	points := 1
	for _, s := range scene.Moving {
		f.counts = append(f.counts, len(s.Pts)/dim)
		points += len(s.Pts) / dim
		s.Pts = nil
		f.first.Moving = append(f.first.Moving, s)
	}
	for _, s := range scene.Static {
		s.Pts = slices.Clone(s.Pts)
		f.first.Static = append(f.first.Static, s)
	}
	for range points {
		f.tracks = append(f.tracks, make(track, dim))
	}
	f.add(&scene)
}

// add appends a scene.
func (f *film) add(scene *drawing.Scene) {
	f.frames++
	if f.err != nil {
		return
	}
	dim := f.first.Camera.PointDim()
	row := []float64{scene.Camera.X, scene.Camera.Y, scene.Camera.Z}[:dim]
	for _, s := range scene.Moving {
		row = append(row, s.Pts...)
	}
	if len(row) != dim*len(f.tracks) {
		f.err = fmt.Errorf("frame %d has %d numbers, frame 0 has %d", f.frames-1, len(row), dim*len(f.tracks))
		return
	}
	for i, v := range row {
		t := f.tracks[i/dim]
		t[i%dim] = append(t[i%dim], v)
	}
}

// header returns the header of the film as a clip, and keeps only the tracks of its points.
func (f *film) header(spec idrl.EnvSpec, c idrl.Clip) *Header {
	view := f.first.Camera
	h := &Header{
		Version: 2, Env: spec.ID, Steps: c.Steps, Sub: f.sub, Frames: f.frames,
		FrameSec: spec.StepSeconds / float64(f.sub), Playback: spec.Playback, EndSec: spec.EndSeconds, Phi: c.Phi, Unit: f.unit(),
		W: view.W, H: view.H, Distance: view.Distance, Azimuth: view.Azimuth, Elevation: view.Elevation,
		Static: make([]Shape, len(f.first.Static)), Moving: make([]Shape, len(f.first.Moving)),
	}
	for i, s := range f.first.Static {
		h.Static[i] = Shape{Kind: s.Kind, Paint: s.Paint, Size: s.Size, Pts: s.Pts, Text: s.Text}
	}
	at := f.share(h.Unit / 2)
	for i, s := range f.first.Moving {
		h.Moving[i] = Shape{Kind: s.Kind, Paint: s.Paint, Size: s.Size, At: at[:f.counts[i]:f.counts[i]], Text: s.Text, Trail: s.Trail}
		at = at[f.counts[i]:]
	}
	h.Note, h.Happens, h.Useless, h.Marks = f.note, f.named.Name, f.named.Useless, f.marks
	h.Points, h.Fallen = len(f.tracks), float64(f.fallen)/float64(c.Steps+1)
	return h
}

// Steps of the numbers that span the larger side of the camera. In a flat scene
// that is a quarter of a pixel on a view of 512. A solid scene is watched in slow
// motion, where a body that moves by less than a step between two frames would
// tremble.
const (
	stepsAcross      = 1024
	stepsAcrossSolid = 2048
)

// maxNumber is the largest number: coordinates are exact as float32.
const maxNumber = 1 << 24

// unit returns the step of the numbers: fine for the eye, and coarse enough for
// the largest coordinate. It is not finite if a coordinate is not.
func (f *film) unit() float64 {
	view := f.first.Camera
	u := max(view.W, view.H) / stepsAcross
	if view.Solid() {
		u = max(view.W, view.H) / stepsAcrossSolid
	}
	for _, t := range f.tracks {
		for _, column := range t {
			for _, v := range column {
				u = max(u, math.Abs(v)/maxNumber)
			}
		}
	}
	return u
}

// share drops the tracks of points that equal those of another point in every frame, up to
// tolerance. It returns the new number of each point except the camera's centre.
func (f *film) share(tolerance float64) []int {
	kept := f.tracks[:1:1]
	at := make([]int, 0, len(f.tracks)-1)
	for _, t := range f.tracks[1:] {
		same := func(o track) bool { return together(o, t, tolerance) }
		k := slices.IndexFunc(kept, same)
		if k < 0 {
			k = len(kept)
			kept = append(kept, t)
		}
		at = append(at, k)
	}
	f.tracks = kept
	return at
}

// together reports whether the coordinates of a and b differ by at most tolerance.
func together(a, b track, tolerance float64) bool {
	for k := range a {
		for i, v := range a[k] {
			if !(math.Abs(v-b[k][i]) <= tolerance) {
				return false
			}
		}
	}
	return true
}
