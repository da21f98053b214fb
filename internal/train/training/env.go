package training

import (
	"tiebreak/internal/idrl"
)

// An Interrupter is an Environment that may wait long for something outside this program.
type Interrupter interface {
	idrl.Environment

	// Interrupt ends the wait and makes the environment fail permanently. It may be called from any
	// goroutine, and again.
	Interrupt()
}

// A Reclipper is an Environment whose clips may have another length and speed: those that
// a session was created with.
type Reclipper interface {
	// Reclip sets Spec().ClipSteps and Spec().Playback.
	Reclip(steps int, playback float64)
}
