package drawing

import (
	"image"

	"tiebreak/internal/idrl"
)

// A Drawer can draw its present state. Training does not call it.
type Drawer interface {
	// Draw stores the present state in dst, which it overwrites. Two states of
	// one environment give scenes of the same shape: the same Static list, and
	// a Moving list of the same length, kinds, paints and numbers of points.
	Draw(dst *Scene)
}

// A Pictured is an Environment that shows its present state in a picture, where it has no
// Scene to draw.
type Pictured interface {
	// Picture returns a picture of the present state, which the caller may keep and does not
	// change. All pictures of an environment have one size, 8 to 4096 pixels a side. Its
	// error, which Err then returns too, says why there is none.
	Picture() (image.Image, error)
}

// A Framed environment is a Pictured whose pictures need not be shown whole.
type Framed interface {
	// Framed reports whether Picture returns a part that a person chose, which is shown to its edges. Else players
	// show the part in which there is something to see.
	Framed() bool
}

// A Narrator is an Environment that describes in words what the pictures of a clip do not show.
type Narrator interface {
	// Narrate returns a sentence or two for people about a clip from the snapshot first to the
	// snapshot last: what is outside the picture, and Stays if the robot does not move from its
	// place. last is nil for a still. It is empty if there is nothing to say. The environment may
	// be left in another state.
	Narrate(first, last []float64) string
}

// A Namer is an Environment that names the event in a clip, as a person would.
type Namer interface {
	// Name returns what happens between the snapshots of a clip, in order; of a still there is one.
	// The environment may be left in another state.
	Name(states [][]float64) Happening
}

// A Happening names the event in a clip. Two clips with one name count as the same to an annotator, whatever
// else is different between them.
type Happening struct {
	// Name is a few words of plain English, at most MaxHappening bytes, as "leaves the road".
	// It is empty if nothing is known.
	Name string

	// Useless is true if what happens serves hardly any purpose: the robot lies or stays where it
	// is, the car crashes. A purpose that it does serve shows in the answers.
	Useless bool
}

// MaxHappening is the length of the name of a Happening, bytes.
const MaxHappening = 60

// A Substepper can draw what happens within a step, for slow motion.
type Substepper interface {
	Drawer
	idrl.Snapshotter

	// Substeps returns the number of frames that a step is drawn in, at least 1.
	Substeps() int

	// DrawStep draws the step that led from the snapshot before to the snapshot
	// after: it calls frame Substeps() times, at last with the scene of after. The
	// scene belongs to DrawStep and is valid during the call. The environment is
	// left in the state after.
	DrawStep(before, after []float64, frame func(*Scene))
}
