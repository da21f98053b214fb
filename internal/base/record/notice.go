package record

import (
	"time"

	"tiebreak/internal/idrl"
)

// A ToldNotice is the last notice of its kind that researchers got about a session.
type ToldNotice struct {
	Session idrl.SessionID
	Kind    string
	Text    string
	Since   time.Time // it holds, or held
	Told    time.Time // it was told last; zero if it was not
	Holds   bool
}

// An UnsentNotice waits for a web hook.
type UnsentNotice struct {
	ID      int64  // in the order of sending; 0 before it is kept
	Key     string // its name for the web hook, the same each time that it is sent
	Session idrl.SessionID
	Title   string // of the session
	Kind    string
	Text    string
	Since   time.Time
}
