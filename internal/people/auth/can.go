package auth

import (
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Role is the kind of an actor: researcher, annotator or neither.
type Role string

// Roles.
const (
	None       Role = "" // not signed in
	Researcher Role = "researcher"
	Annotator  Role = "annotator" // of one session
	Program    Role = "program"   // holds a token of the HTTP API
	Removed    Role = "removed"   // was an annotator of one session; may do nothing
)

// An Actor is the sender of a request.
type Actor struct {
	Role      Role
	User      string           // of a researcher
	Annotator idrl.AnnotatorID // of an annotator, also a removed one, and of a program of ScopeLabel
	Session   idrl.SessionID   // the annotator's, or the only one of a program; empty for all
	Narrow    bool             // the annotator came back by an id that others may know
	Token     int64            // number of a program's token
	Scope     identity.Scope   // of a program
}

// Action is an operation by an actor.
type Action string

// Actions. The set is closed. All but the first two concern a session.
const (
	ListSessions  Action = "list sessions"
	CreateSession Action = "create a session"
	WatchSession  Action = "watch a session"   // its dashboard, posterior, candidates and all answers
	Invite        Action = "invite annotators" // and see and revoke the links
	Remove        Action = "remove annotators" // and change how their answers count
	ChangeSession Action = "change a session"  // the number of answers wanted
	Export        Action = "export a session"
	Upload        Action = "upload clips" // of a program
	Label         Action = "answer questions"
	Recall        Action = "recall"       // of an annotator: see, change and withdraw what they gave, and their name
	FetchClip     Action = "fetch a clip" // of an annotator: only of their own assignments, which the store knows
)

// Can reports whether an actor may act on a session, which is empty for actions that concern none.
// Researchers trust one another and may do everything except answer, because their answers would
// count as an annotator's. An annotator answers in one session and sees nothing else. A program may
// do what its token allows.
func Can(a Actor, action Action, session idrl.SessionID) bool {
	switch a.Role {
	case Researcher:
		switch action {
		case ListSessions, CreateSession:
			return true
		case WatchSession, Invite, Remove, ChangeSession, Export, FetchClip:
			return session != ""
		default:
			return false
		}
	case Annotator:
		mine := session != "" && session == a.Session && a.Annotator != ""
		return mine && (action == Label || action == FetchClip || action == Recall && !a.Narrow)
	case Program:
		return programCan(a, action, session)
	default:
		return false
	}
}

// programCan is Can for a program. Its scope limits the actions, and its token the sessions.
func programCan(a Actor, action Action, session idrl.SessionID) bool {
	mine := session != "" && (a.Session == "" || a.Session == session)
	reads := a.Scope == identity.ScopeRead || a.Scope == identity.ScopeWrite || a.Scope == identity.ScopeUpload
	switch action {
	case ListSessions:
		return reads
	case CreateSession:
		return a.Session == "" && a.Scope == identity.ScopeUpload
	case Upload:
		return mine && a.Scope == identity.ScopeUpload
	case WatchSession, Export:
		return mine && reads
	case ChangeSession:
		return mine && a.Scope == identity.ScopeWrite
	case Label:
		return mine && a.Scope == identity.ScopeLabel && a.Annotator != ""
	default:
		return false
	}
}
