package identity

import (
	"fmt"
	"time"

	"tiebreak/internal/idrl"
)

// An Invitation is a link that signs in an account, or with which annotators join a session.
// Its token is not recorded.
type Invitation struct {
	ID        int64          // number for people, from 1
	User      string         // account that it signs in; empty if it is for annotators
	Session   idrl.SessionID // session that annotators join by it; empty if it is for an account
	Uses      int            // how often it may be used in all; 0 if that is not known
	UsesLeft  int
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt time.Time // zero if it was not revoked
}

// Live reports whether the link is valid at the time now.
func (i Invitation) Live(now time.Time) bool {
	return i.UsesLeft > 0 && i.RevokedAt.IsZero() && i.ExpiresAt.After(now)
}

// Usage writes how often the link was used, for people.
func (i Invitation) Usage() string {
	if i.Uses == 0 {
		return fmt.Sprintf("%d left", i.UsesLeft)
	}
	return fmt.Sprintf("%d of %d", i.Uses-i.UsesLeft, i.Uses)
}

// State says whether the link is valid at the time now, and if not why, for people.
func (i Invitation) State(now time.Time) string {
	switch {
	case !i.RevokedAt.IsZero():
		return "revoked"
	case i.UsesLeft == 0:
		return "used up"
	case !i.Live(now):
		return "expired"
	}
	return "valid"
}

// An Annotator is a person who joined a session.
type Annotator struct {
	ID         idrl.AnnotatorID
	Name       string // name that they gave; may be empty
	JoinedAt   time.Time
	SeenAt     time.Time // zero if they have no login any more
	Invitation int64     // by which they joined; 0 if that is not known
	RevokedAt  time.Time // zero if they may answer
	LeftOut    bool      // their answers are to be left out, by a researcher's decision
	Turned     int64     // their answers up to this row of the log are to be turned, likewise; 0 for none

	WithdrawnAt time.Time // when their data were withdrawn; zero if they were not
	ErasedAt    time.Time // from when on no file of the data folder contains any of them; zero until then
}

// State says whether they may answer and whether their answers count, for people.
func (a Annotator) State() string {
	state := "may answer"
	switch {
	case !a.ErasedAt.IsZero():
		return "data withdrawn and erased"
	case !a.WithdrawnAt.IsZero():
		return "data withdrawn, being erased"
	case !a.RevokedAt.IsZero():
		state = "removed"
	}
	switch {
	case a.LeftOut:
		state += "; answers left out"
	case a.Turned > 0:
		state += fmt.Sprintf("; answers turned up to row %d", a.Turned)
	}
	return state
}

// A Login is the holder of a cookie: an account, or an annotator of a session.
type Login struct {
	User      string
	Role      Role // of User
	Session   idrl.SessionID
	Annotator idrl.AnnotatorID
	Since     time.Time
	SeenAt    time.Time
	Revoked   bool // the annotator may not answer any more
	Narrow    bool // they came back by an id that others may know: they do not see earlier answers
}

// A LoginLimit says which logins of a person end when another of theirs is recorded.
type LoginLimit struct {
	Idle     time.Duration // since the holder was seen last
	Absolute time.Duration // since sign-in
	Narrow   int           // number of Narrow logins that remain, those seen last
}

// Expired reports whether a login has ended at now.
func (l LoginLimit) Expired(in Login, now time.Time) bool {
	return now.Sub(in.Since) > l.Absolute || now.Sub(in.SeenAt) > l.Idle
}

// A RejoinKey lets the browser of an annotator sign in again. Its token is not
// recorded.
type RejoinKey struct {
	Session   idrl.SessionID
	Annotator idrl.AnnotatorID
	Since     time.Time
	UsedAt    time.Time // last
}
