package record

import (
	"strings"
	"time"

	"tiebreak/internal/idrl"
)

// SessionState says whether a session asks questions. The set is closed.
type SessionState string

// States of a session.
const (
	StateRunning  SessionState = "running"
	StatePaused   SessionState = "paused"   // asks no questions and starts no training, until it is resumed
	StateClosed   SessionState = "closed"   // has ended, like a complete session; no one can join
	StateArchived SessionState = "archived" // closed, and not in the list of sessions
)

// Ended reports whether the session asks no more questions and is closed to new annotators.
func (s SessionState) Ended() bool { return s == StateClosed || s == StateArchived }

// A Control is one act of a researcher upon a session: a row of an append-only record.
type Control struct {
	At     time.Time
	Actor  string       // the researcher's name, or the name of a command or token
	Action string       // "pause", "resume", "close", "archive", "rename"
	State  SessionState // after it
	Title  string       // after it
}

// An Act is an entry of the audit trail: a change of a session by a person or by the server.
type Act struct {
	At     time.Time
	Actor  string // the researcher's name, or the name of a command or token
	Action string // one of Acts()
	Object string // its object; the form depends on Action
}

// Acts returns the actions of researchers upon a session that its page lists beside those of a
// Control.
func Acts() []string {
	return []string{
		"set budget", "set consent", "set instructions", "add picture", "remove picture",
		"set gold every", "set known answer", "cancel training", "revoke annotator", "leave answers out", "turn answers", "count answers", "withdraw data",
		"invite", "revoke link", "make token", "revoke token", "import session", "give right", "take right",
		ActFreeze, "set tags", "set data card",
	}
}

// Actions upon a session that change its state.
const (
	ActPause   = "pause"
	ActResume  = "resume"
	ActClose   = "close"
	ActArchive = "archive"
	ActRename  = "rename" // changes the title alone
)

// ActFreeze records the hash of a plan; it changes nothing.
const ActFreeze = "freeze plan"

// StateAfter returns the state to which an action leads from a state. It returns an error of kind
// Invalid for an unknown action, and of kind Conflict if the action is not possible in the state.
func StateAfter(from SessionState, action string) (SessionState, error) {
	switch action {
	case ActPause:
		if from.Ended() {
			return from, idrl.Errorf(idrl.Conflict, "the session is %s; resume it before you pause it", from)
		}
		return StatePaused, nil
	case ActResume:
		return StateRunning, nil
	case ActClose:
		return StateClosed, nil
	case ActArchive:
		return StateArchived, nil
	}
	return from, idrl.Errorf(idrl.Invalid, "unknown action %q; known: %s", action, strings.Join([]string{ActPause, ActResume, ActClose, ActArchive}, ", "))
}

// CloneTitle returns the title of a copy of a session, at most MaxTitle characters.
func CloneTitle(title string) string { return idrl.Titled("Copy of ", title, "") }

// ErrEnded refuses people who want to join a session that has ended, in words for people.
var ErrEnded = idrl.Errorf(idrl.Conflict, "This session has ended. Nobody can join it any more. Thank you for your interest.")
