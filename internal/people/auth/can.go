package auth

import (
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Role is the kind of an actor: an account of one of three kinds, an annotator, a program or none of
// them.
type Role string

// Roles.
const (
	None       Role = "" // not signed in
	Admin           = Role(identity.Admin)
	Researcher      = Role(identity.Researcher)
	Viewer          = Role(identity.Viewer)
	Annotator  Role = "annotator" // of one session
	Program    Role = "program"   // holds a token of the HTTP API
	Removed    Role = "removed"   // was an annotator of one session; may do nothing
)

// Account reports whether an actor of the role is signed in with an account.
func (r Role) Account() bool { return r == Admin || r == Researcher || r == Viewer }

// An Actor is the sender of a request.
type Actor struct {
	Role      Role
	User      string           // name of the account; of a program the one whose rights limit it, empty for none
	As        Role             // of a program: the role of that account
	Annotator idrl.AnnotatorID // of an annotator, also a removed one, and of a program of ScopeLabel
	Session   idrl.SessionID   // the annotator's, or the only one of a program; empty for all
	Narrow    bool             // the annotator came back by an id that others may know
	Token     int64            // number of a program's token
	Scope     identity.Scope   // of a program
}

// An Object is the session that an action concerns, with the right of the actor's account in it. Its
// zero value is for actions that concern no session.
type Object struct {
	Session idrl.SessionID
	Right   identity.Right
}

// Action is an operation by an actor.
type Action string

// Actions. The set is closed.
const (
	ListSessions   Action = "list sessions"    // that the actor may watch
	CreateSession  Action = "create a session" // and a token
	ManageAccounts Action = "manage accounts"
	ManageWorkers  Action = "manage workers"
	OwnAccount     Action = "own account" // change the actor's password, and end their logins

	// The others concern a session.
	WatchSession  Action = "watch a session"   // its dashboard, posterior, candidates and all answers
	Export        Action = "export a session"  // as files, and its rows as they come
	Invite        Action = "invite annotators" // and see and revoke the links
	Remove        Action = "remove annotators" // and change how their answers count
	ChangeSession Action = "change a session"  // its settings, instructions and known answers
	ShareSession  Action = "share a session"   // say who may see it
	Upload        Action = "upload clips"      // of a program
	Label         Action = "answer questions"
	Recall        Action = "recall"       // of an annotator: see, change and withdraw what they gave, and their name
	FetchClip     Action = "fetch a clip" // of an annotator: only of their own assignments, which the store knows
)

// rights has the right in a session that an account needs for an action.
var rights = map[Action]identity.Right{
	WatchSession: identity.RightView, FetchClip: identity.RightView, Export: identity.RightExport,
	Invite: identity.RightChange, Remove: identity.RightChange, ChangeSession: identity.RightChange, ShareSession: identity.RightOwn,
}

// Can reports whether an actor may act on an object. No account can answer, because its answers would
// count as an annotator's. An annotator answers in one session and sees nothing else. A program may
// do what both its token and its account allow.
func Can(a Actor, action Action, o Object) bool {
	switch a.Role {
	case Admin, Researcher, Viewer:
		return accountCan(a.Role, action, o)
	case Annotator:
		mine := o.Session != "" && o.Session == a.Session && a.Annotator != ""
		return mine && (action == Label || action == FetchClip || action == Recall && !a.Narrow)
	case Program:
		return tokenCan(a, action, o.Session) && (a.User == "" || accountCan(a.As, accountAction(action), o))
	default:
		return false
	}
}

// accountCan is Can for an account.
func accountCan(role Role, action Action, o Object) bool {
	switch action {
	case ListSessions, OwnAccount:
		return role.Account()
	case CreateSession:
		return role == Admin || role == Researcher
	case ManageAccounts, ManageWorkers:
		return role == Admin
	default:
	}
	need, ok := rights[action]
	switch {
	case !ok || o.Session == "":
		return false
	case role == Admin:
		return true
	case role == Researcher:
		return o.Right.Includes(need)
	case role == Viewer: // changes nothing, whatever it was given
		return o.Right.Includes(need) && identity.RightExport.Includes(need)
	}
	return false
}

// accountAction returns the action that an account must be allowed so that its program may do action.
func accountAction(action Action) Action {
	switch action {
	case Upload:
		return ChangeSession
	case Label: // as an annotator that its account has made
		return Invite
	default:
		return action
	}
}

// tokenCan is Can for a program, without its account. Its scope limits the actions, and its token the
// sessions.
func tokenCan(a Actor, action Action, session idrl.SessionID) bool {
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
