package auth

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
)

// narrowLogins is how many narrow logins an annotator has at most: who knows their id can make
// any number of them.
const narrowLogins = 8

// limits of a researcher are tighter: they see everybody's answers.
func limits(r Role) idrl.LoginLimit {
	if r == Researcher {
		return idrl.LoginLimit{Idle: 3 * 24 * time.Hour, Absolute: 14 * 24 * time.Hour}
	}
	return idrl.LoginLimit{Idle: 14 * 24 * time.Hour, Absolute: 60 * 24 * time.Hour, Narrow: narrowLogins}
}

// CookieLife is how long a browser keeps the cookie of a role.
func CookieLife(r Role) time.Duration { return limits(r).Absolute }

// seenEvery is how precisely the last sight of somebody is recorded.
const seenEvery = 10 * time.Minute

// Actor returns who holds a cookie. A cookie that is empty, unknown or expired
// makes nobody, which is no error.
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

// unlessFull drops the error of a write that the disk did not take: who somebody is
// does not depend on it, and researchers must be able to see what is wrong.
func unlessFull(err error) error {
	if k := idrl.KindOf(err); k == idrl.Unavailable || k == idrl.Damaged {
		return nil
	}
	return err
}

// SignOut makes a cookie worthless. One that is already is no error.
func (a *Auth) SignOut(ctx context.Context, cookie string) error {
	hash, err := hashToken(cookie)
	if err != nil {
		return nil //nolint:nilerr // it is worthless already
	}
	return a.store.SignOut(ctx, hash)
}
