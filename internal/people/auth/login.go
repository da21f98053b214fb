package auth

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// narrowLogins is the largest number of narrow logins of an annotator: anyone who knows their id
// can make more.
const narrowLogins = 8

// limits returns when logins of a role end. Those of accounts are shorter, because accounts see the
// answers of all annotators.
func limits(r Role) identity.LoginLimit {
	if r.Account() {
		return identity.LoginLimit{Idle: 3 * 24 * time.Hour, Absolute: 14 * 24 * time.Hour}
	}
	return identity.LoginLimit{Idle: 14 * 24 * time.Hour, Absolute: 60 * 24 * time.Hour, Narrow: narrowLogins}
}

// CookieLife is how long a browser keeps the cookie of a role.
func CookieLife(r Role) time.Duration { return limits(r).Absolute }

// seenEvery is the precision with which the last visit is recorded.
const seenEvery = 10 * time.Minute

// Actor returns the holder of a cookie. For a cookie that is empty, unknown or expired it returns
// the zero Actor, without an error.
func (a *Auth) Actor(ctx context.Context, cookie string) (Actor, error) {
	if cookie == "" {
		return Actor{}, nil
	}
	hash, err := hashToken(cookie)
	if err != nil {
		return Actor{}, nil //nolint:nilerr // a malformed cookie means no login
	}
	login, err := a.store.Login(ctx, hash)
	if idrl.KindOf(err) == idrl.NotFound {
		return Actor{}, nil
	}
	if err != nil {
		return Actor{}, err
	}
	who, now := actor(login), a.now()
	if limits(who.Role).Expired(login, now) {
		return Actor{}, unlessFull(a.store.SignOut(ctx, hash))
	}
	if now.Sub(login.SeenAt) > seenEvery {
		if err := unlessFull(a.store.Seen(ctx, hash, now)); err != nil {
			return Actor{}, err
		}
	}
	return who, nil
}

// unlessFull drops the error of a write that failed because of the disk: identification does not
// depend on it, and researchers must be able to see the problem.
func unlessFull(err error) error {
	if k := idrl.KindOf(err); k == idrl.Unavailable || k == idrl.Damaged {
		return nil
	}
	return err
}

// SignOut makes a cookie invalid. An invalid one is not an error.
func (a *Auth) SignOut(ctx context.Context, cookie string) error {
	hash, err := hashToken(cookie)
	if err != nil {
		return nil //nolint:nilerr // a malformed cookie means no login
	}
	return a.store.SignOut(ctx, hash)
}
