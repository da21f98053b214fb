// Package auth knows who makes a request and what they may do.
//
// Nobody has a password. A link with a secret token lets in: a researcher by a
// sign-in link that works once, annotators by an invitation to one session. In
// exchange for a link the browser receives a cookie with another token. Only
// SHA-256 hashes of tokens are stored.
package auth

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tiebreak/internal/idrl"
)

// Links stores links. hash is the SHA-256 of a link's token.
type Links interface {
	// AddUser adds a researcher; one who is there stays.
	AddUser(ctx context.Context, user string, now time.Time) error

	// Invite records a link that lets in uses times until it expires: user, if
	// that is not empty, else annotators of session.
	Invite(ctx context.Context, hash []byte, user string, session idrl.SessionID, uses int, now, expires time.Time) error

	// Invitation returns whom a link lets in now, or an error of kind NotFound
	// if it is unknown, expired or used up. It uses nothing up.
	Invitation(ctx context.Context, hash []byte, now time.Time) (user string, session idrl.SessionID, err error)
}

// Logins stores logins. hash is the SHA-256 of a cookie's token.
type Logins interface {
	// SignIn uses a link once and records a login, in one transaction. If the
	// link is for annotators it adds one, called name. Its errors are those of
	// Invitation.
	SignIn(ctx context.Context, link, hash []byte, name string, now time.Time) (user string, session idrl.SessionID, annotator idrl.AnnotatorID, err error)

	// Login returns who holds the cookie, since when, and when they were seen
	// last, or an error of kind NotFound.
	Login(ctx context.Context, hash []byte) (user string, session idrl.SessionID, annotator idrl.AnnotatorID, since, seen time.Time, err error)

	// Seen records that the holder of a login was seen.
	Seen(ctx context.Context, hash []byte, now time.Time) error

	// SignOut forgets a login; one that is unknown is no error.
	SignOut(ctx context.Context, hash []byte) error
}

// Store is where links and logins are kept. store.DB is one.
type Store interface {
	Links
	Logins
}

// Config configures an Auth.
type Config struct {
	Store Store            // required
	Now   func() time.Time // default time.Now
}

// Auth issues and checks links and cookies. Its methods may be called from any
// goroutine.
type Auth struct {
	store Store
	now   func() time.Time
}

// New returns an Auth.
func New(c Config) *Auth {
	if c.Store == nil {
		panic("auth: no store")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Auth{store: c.Store, now: c.Now}
}

const (
	signInLinkLife = 24 * time.Hour
	maxInvitation  = 365 * 24 * time.Hour // life of an invitation
	maxUses        = 10000                // of an invitation

	maxUser = 80 // bytes
	maxName = 80 // bytes
)

// NewResearcherLink returns the token of a link that signs in a researcher
// once, within 24 hours. It adds the researcher if need be. It returns an
// error of kind Invalid if user is no name.
func (a *Auth) NewResearcherLink(ctx context.Context, user string) (token string, err error) {
	user, err = clean("user", user, maxUser)
	if err != nil {
		return "", err
	}
	if user == "" {
		return "", idrl.Errorf(idrl.Invalid, "a researcher needs a name")
	}
	now := a.now()
	if err := a.store.AddUser(ctx, user, now); err != nil {
		return "", err
	}
	token, hash := newToken()
	return token, a.store.Invite(ctx, hash, user, "", 1, now, now.Add(signInLinkLife))
}

// NewInvitation returns the token of a link that lets uses annotators into a
// session for the time life. It returns an error of kind Invalid if uses or
// life is out of range and of kind NotFound if there is no such session.
func (a *Auth) NewInvitation(ctx context.Context, session idrl.SessionID, uses int, life time.Duration) (token string, err error) {
	switch {
	case session == "":
		return "", idrl.Errorf(idrl.Invalid, "an invitation is to a session; name one")
	case uses < 1 || uses > maxUses:
		return "", idrl.Errorf(idrl.Invalid, "an invitation is for 1 to %d annotators; got %d", maxUses, uses)
	case life <= 0 || life > maxInvitation:
		return "", idrl.Errorf(idrl.Invalid, "an invitation is valid for at most %d days", int(maxInvitation.Hours()/24))
	}
	token, hash := newToken()
	now := a.now()
	return token, a.store.Invite(ctx, hash, "", session, uses, now, now.Add(life))
}

// PeekResearcher returns whom a sign-in link would sign in. It does not use the
// link up, since programs that look at links must not. It returns an error of
// kind NotFound, in words for people, if the link is not valid.
func (a *Auth) PeekResearcher(ctx context.Context, token string) (user string, err error) {
	user, _, err = a.peek(ctx, token)
	if err == nil && user == "" {
		err = notValid()
	}
	return user, err
}

// PeekInvitation returns the session to which an invitation leads, under the
// rules of PeekResearcher.
func (a *Auth) PeekInvitation(ctx context.Context, token string) (idrl.SessionID, error) {
	_, session, err := a.peek(ctx, token)
	if err == nil && session == "" {
		err = notValid()
	}
	return session, err
}

func (a *Auth) peek(ctx context.Context, token string) (user string, session idrl.SessionID, err error) {
	hash, err := hashToken(token)
	if err == nil {
		user, session, err = a.store.Invitation(ctx, hash, a.now())
	}
	return user, session, forPeople(err)
}

// RedeemResearcher uses a sign-in link up and returns the researcher with the
// token of their cookie. It returns an error of kind NotFound if the link is
// not valid.
func (a *Auth) RedeemResearcher(ctx context.Context, token string) (Actor, string, error) {
	if _, err := a.PeekResearcher(ctx, token); err != nil {
		return Actor{}, "", err
	}
	return a.signIn(ctx, token, "")
}

// Redeem uses an invitation once and returns the new annotator, who may be
// called name, with the token of their cookie. It returns an error of kind
// NotFound if the link is not valid and of kind Invalid if name is no name.
func (a *Auth) Redeem(ctx context.Context, token, name string) (Actor, string, error) {
	name, err := clean("name", name, maxName)
	if err != nil {
		return Actor{}, "", err
	}
	if _, err := a.PeekInvitation(ctx, token); err != nil {
		return Actor{}, "", err
	}
	return a.signIn(ctx, token, name)
}

func (a *Auth) signIn(ctx context.Context, token, name string) (Actor, string, error) {
	link, err := hashToken(token)
	if err != nil {
		return Actor{}, "", forPeople(err)
	}
	cookie, hash := newToken()
	user, session, annotator, err := a.store.SignIn(ctx, link, hash, name, a.now())
	if err != nil {
		return Actor{}, "", forPeople(err)
	}
	return actor(user, session, annotator), cookie, nil
}

func actor(user string, session idrl.SessionID, annotator idrl.AnnotatorID) Actor {
	if user != "" {
		return Actor{Role: Researcher, User: user}
	}
	return Actor{Role: Annotator, Session: session, Annotator: annotator}
}

// clean trims a name. It returns an error of kind Invalid that says what to
// change.
func clean(what, name string, limit int) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case len(name) > limit:
		return "", idrl.Errorf(idrl.Invalid, "the %s must have at most %d characters", what, limit)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "", idrl.Errorf(idrl.Invalid, "the %s must be plain text on one line", what)
	}
	return name, nil
}

func notValid() error {
	return idrl.Errorf(idrl.NotFound, "this link is not valid: it was used already, has expired, or is incomplete; ask for a new one")
}

// forPeople gives every reason why a link does not work the same words, which
// also tell a stranger nothing.
func forPeople(err error) error {
	if idrl.KindOf(err) == idrl.NotFound {
		return notValid()
	}
	return err
}
