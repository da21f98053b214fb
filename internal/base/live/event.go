package live

import (
	"tiebreak/internal/idrl"
)

// EventKind says what happened in a session.
type EventKind string

// Kinds of event. The set is closed.
const (
	EventAnswered EventKind = "answered" // a log row was recorded
	EventAdopted  EventKind = "adopted"  // a generation came into use: there may be new questions
	EventTraining EventKind = "training" // progress in the background
	EventSettings EventKind = "settings" // a researcher changed the session: there may be new questions, or fewer
)

// Event announces a change. It has no content: a watcher reads the present state, so missing an
// event does no harm.
type Event struct {
	Kind      EventKind
	Seq       int64            // of the last log row
	Annotator idrl.AnnotatorID // whose log row it was; empty otherwise
}
