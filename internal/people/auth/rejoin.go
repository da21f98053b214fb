package auth

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Keys stores the keys with which annotators sign in again. hash is the SHA-256
// of a key.
type Keys interface {
	// AddRejoinKey records a key of an annotator and keeps at most most of them,
	// those used last.
	AddRejoinKey(ctx context.Context, hash []byte, k identity.RejoinKey, most int) error

	// RejoinKey returns a key, or an error of kind NotFound.
	RejoinKey(ctx context.Context, hash []byte) (identity.RejoinKey, error)

	// UseRejoinKey records that a key was used.
	UseRejoinKey(ctx context.Context, hash []byte, now time.Time) error

	// Rejoin uses a key and records a login of its annotator, in one transaction.
	// Other logins of theirs end as limit says. It returns an error of kind NotFound
	// if the key is not there.
	Rejoin(ctx context.Context, key, login []byte, limit identity.LoginLimit, now time.Time) error
}

const (
	rejoinLife  = 180 * 24 * time.Hour // of a key, since it was used last
	rejoinRenew = 30 * 24 * time.Hour  // age after which a key is replaced by a new one
	rejoinEvery = 24 * time.Hour       // precision with which its last use is recorded on a visit
	rejoinKeys  = 8                    // of an annotator at most; two tabs may ask at once
)

// RejoinKey returns a key with which the annotator can sign in again for 180 days after its last
// use. key is the one that their browser holds. If that is theirs, valid and not older than 30
// days, its time is extended and "" is returned. An older key stays valid, because its browser may
// not receive the new one.
func (a *Auth) RejoinKey(ctx context.Context, who Actor, key string) (fresh string, err error) {
	if who.Role != Annotator {
		return "", idrl.Errorf(idrl.Forbidden, "only annotators have a key to continue with")
	}
	k, err := a.rejoinKey(ctx, key)
	now := a.now()
	switch {
	case err != nil && idrl.KindOf(err) != idrl.Forbidden:
		return "", err
	case err == nil && k.Session == who.Session && k.Annotator == who.Annotator:
		if now.Sub(k.UsedAt) > rejoinEvery {
			if err := a.store.UseRejoinKey(ctx, k.hash, now); err != nil {
				return "", err
			}
		}
		if now.Sub(k.Since) <= rejoinRenew {
			return "", nil
		}
	}
	fresh, hash := newToken()
	return fresh, a.store.AddRejoinKey(ctx, hash, identity.RejoinKey{Session: who.Session, Annotator: who.Annotator, Since: now, UsedAt: now}, rejoinKeys)
}

// Rejoin signs an annotator of session in again by a key and returns them with
// the token of their cookie. It returns an error of kind Forbidden, in words for
// people, if the key is not valid there.
func (a *Auth) Rejoin(ctx context.Context, session idrl.SessionID, key string) (Actor, string, error) {
	k, err := a.rejoinKey(ctx, key)
	if err == nil && k.Session != session {
		err = errKey
	}
	if err != nil {
		return Actor{}, "", err
	}
	cookie, login := newToken()
	if err := a.store.Rejoin(ctx, k.hash, login, limits(Annotator), a.now()); err != nil {
		return Actor{}, "", keyForPeople(err)
	}
	return Actor{Role: Annotator, Session: session, Annotator: k.Annotator}, cookie, nil
}

// A rejoinKey is a key that is valid now.
type rejoinKey struct {
	identity.RejoinKey
	hash []byte
}

// rejoinKey looks up a key. It returns errKey if it is not valid.
func (a *Auth) rejoinKey(ctx context.Context, key string) (k rejoinKey, err error) {
	if k.hash, err = hashToken(key); err != nil {
		return rejoinKey{}, errKey
	}
	k.RejoinKey, err = a.store.RejoinKey(ctx, k.hash)
	if err == nil && a.now().Sub(k.UsedAt) > rejoinLife {
		err = errKey
	}
	return k, keyForPeople(err)
}

var errKey = idrl.Errorf(idrl.Forbidden,
	"this browser can no longer continue as the earlier annotator; that is possible for %d days after the last visit, "+
		"unless a researcher ends it; open the link that you were sent", int(rejoinLife.Hours()/24))

// keyForPeople gives every reason why a key does not work the same text.
func keyForPeople(err error) error {
	if idrl.KindOf(err) == idrl.NotFound {
		return errKey
	}
	return err
}
