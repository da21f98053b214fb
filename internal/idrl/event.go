package idrl

// EventKind says what happened in a session.
type EventKind string

// Kinds of event. The set is closed.
const (
	EventAnswered EventKind = "answered" // a log row was recorded
	EventAdopted  EventKind = "adopted"  // a generation came into use: there may be new questions
	EventTraining EventKind = "training" // progress in the background
	EventSettings EventKind = "settings" // a researcher changed the session: questions may have come or gone
)

// Event announces a change. It carries no content: a watcher reads the present
// state, so that it may miss events without harm.
type Event struct {
	Kind      EventKind
	Seq       int64       // of the last log row
	Annotator AnnotatorID // whose log row it was; empty otherwise
}
