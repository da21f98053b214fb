package identity

import (
	"time"

	"tiebreak/internal/idrl"
)

// Scope says what a program may do with its token.
type Scope string

// Scopes.
const (
	ScopeRead  Scope = "read"  // answers, posterior, policies and exports
	ScopeLabel Scope = "label" // answer questions, and see nothing else
	ScopeWrite Scope = "write" // ScopeRead, and pause, resume and close

	// ScopeUpload is ScopeRead, and to upload clips and make sessions over them.
	ScopeUpload Scope = "upload"
)

// Scopes returns the scopes of tokens.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeLabel, ScopeWrite, ScopeUpload} }

// A Token lets a program use the HTTP API. Its text is not recorded.
type Token struct {
	ID        int64  // number for people, from 1
	Name      string // its purpose; may be empty
	Scope     Scope
	Session   idrl.SessionID   // the only one for which it is valid; empty for all, but never with ScopeLabel
	Annotator idrl.AnnotatorID // the annotator of answers given with it; empty except with ScopeLabel
	User      string           // the account whose rights limit it; empty for one made on the server's machine
	Role      Role             // of User
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt time.Time // zero if it was not revoked
	Removed   bool      // a researcher removed the annotator
	Orphaned  bool      // the account is revoked
}

// Live reports whether the token is valid at the time now.
func (t Token) Live(now time.Time) bool {
	return t.RevokedAt.IsZero() && !t.Removed && !t.Orphaned && t.ExpiresAt.After(now)
}

// State says whether the token is valid at the time now, and if not why, for people.
func (t Token) State(now time.Time) string {
	switch {
	case !t.RevokedAt.IsZero():
		return "revoked"
	case t.Removed:
		return "annotator removed"
	case t.Orphaned:
		return "account revoked"
	case !t.Live(now):
		return "expired"
	}
	return "valid"
}
