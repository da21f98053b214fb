package identity

import (
	"time"

	"tiebreak/internal/idrl"
)

// Role is the kind of an account.
type Role string

// Roles.
const (
	Admin      Role = "admin"      // may do everything, and manages accounts and workers
	Researcher Role = "researcher" // makes sessions, and sees those, and the ones that are shared with them
	Viewer     Role = "viewer"     // looks at sessions that are shared with them, and changes nothing
)

// Roles returns the roles of accounts.
func Roles() []Role { return []Role{Admin, Researcher, Viewer} }

// Right is what an account may do in a session. Each includes those before it.
type Right string

// Rights.
const (
	NoRight     Right = ""
	RightView   Right = "view"   // look at everything on its pages
	RightExport Right = "export" // fetch answers and files, which are about people
	RightChange Right = "change" // change settings, invite and remove annotators
	RightOwn    Right = "own"    // say who may see it
)

// Rights returns the rights that an account can be given, the least first.
func Rights() []Right { return []Right{RightView, RightExport, RightChange, RightOwn} }

// Includes reports whether r is o or more.
func (r Right) Includes(o Right) bool { return r.rank() >= o.rank() }

func (r Right) rank() int {
	for i, o := range Rights() {
		if r == o {
			return i + 1
		}
	}
	return 0
}

// A User is an account: of an admin, a researcher or a viewer.
type User struct {
	Name      string
	Role      Role
	AddedAt   time.Time
	RevokedAt time.Time // zero if it may sign in
	Password  bool      // it has one
	Logins    int       // browsers that are signed in, expired or not
	SeenAt    time.Time // zero if there is no login
}

// State says whether the account may sign in, for people.
func (u User) State() string {
	if !u.RevokedAt.IsZero() {
		return "revoked"
	}
	return "active"
}

// A Share is what an account may do in a session.
type Share struct {
	Session idrl.SessionID
	User    string
	Role    Role  // of the account
	Right   Right // RightOwn of the owner
}
