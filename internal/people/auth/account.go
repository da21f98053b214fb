package auth

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Accounts stores passwords of accounts, and their rights in sessions.
type Accounts interface {
	// Password returns the hash of an account's password; empty if it has none, is revoked, or does
	// not exist.
	Password(ctx context.Context, user string) (hash string, err error)
	SetPassword(ctx context.Context, user, hash string, now time.Time) error

	// SignInAccount records a login of an account whose password was right: hash. It returns an
	// error of kind Conflict if the account has changed since.
	SignInAccount(ctx context.Context, user, hash string, login []byte, limit identity.LoginLimit, now time.Time) (identity.Login, error)

	// Right returns the right of an account in a session, NoRight if it was given none, or an error
	// of kind NotFound if there is no such session.
	Right(ctx context.Context, session idrl.SessionID, user string) (identity.Right, error)

	// Shared returns the rights of an account, by session.
	Shared(ctx context.Context, user string) (map[idrl.SessionID]identity.Right, error)
}

// Object returns a session as the object of an actor with an account or a token. It returns an error
// of kind NotFound if there is no such session.
func (a *Auth) Object(ctx context.Context, who Actor, session idrl.SessionID) (Object, error) {
	if session == "" || who.Role == Annotator {
		return Object{Session: session}, nil
	}
	right, err := a.accounts.Right(ctx, session, who.User)
	return Object{Session: session, Right: right}, err
}

// Watchable returns which sessions an actor with an account or a token may watch.
func (a *Auth) Watchable(ctx context.Context, who Actor) (func(idrl.SessionID) bool, error) {
	given := map[idrl.SessionID]identity.Right{}
	if who.User != "" {
		var err error
		if given, err = a.accounts.Shared(ctx, who.User); err != nil {
			return nil, err
		}
	}
	return func(id idrl.SessionID) bool { return Can(who, WatchSession, Object{id, given[id]}) }, nil
}
