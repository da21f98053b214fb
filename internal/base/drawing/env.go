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

// A Narrator is an Environment that describes in words what the pictures of a clip do not show.
type Narrator interface {
	// Narrate returns a sentence or two for people about a clip from the snapshot first to the
	// snapshot last: what is outside the picture, and Stays if the robot does not move from its
	// place. last is nil for a still. It is empty if there is nothing to say. The environment may
	// be left in another state.
	Narrate(first, last []float64) string
}

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
