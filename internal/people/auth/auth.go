package auth

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Links stores links. hash is the SHA-256 of a link's token.
type Links interface {
	// AddUser adds an account with a role; the first of all is an admin. An existing one is kept. It
	// returns an error of kind Conflict if it is revoked.
	AddUser(ctx context.Context, user string, role identity.Role, now time.Time) error

	// Invite records a link that lets in Uses times from CreatedAt until ExpiresAt:
	// User, if that is not empty, else annotators of Session. A link for an account revokes those
	// before it. It returns its number.
	Invite(ctx context.Context, hash []byte, i identity.Invitation) (int64, error)

	// Invitation returns the person or session of a link that is valid now, or an error of kind
	// NotFound if it is unknown, expired, revoked or used up. It does not use the link.
	Invitation(ctx context.Context, hash []byte, now time.Time) (user string, session idrl.SessionID, err error)

	// InvitationSession returns the session of a link for annotators, also if it is used up, or an
	// error of kind NotFound.
	InvitationSession(ctx context.Context, hash []byte) (idrl.SessionID, error)
}

// Logins stores logins. hash is the SHA-256 of a cookie's token.
type Logins interface {
	// SignIn uses a link once and records a login, which it returns, in one
	// transaction. If the link is for annotators it adds one, called name. Other logins
	// of a researcher that have expired end. Its errors are those of Invitation.
	SignIn(ctx context.Context, link, hash []byte, name string, limit identity.LoginLimit, now time.Time) (identity.Login, error)

	// Login returns the holder of the cookie, or an error of kind NotFound.
	Login(ctx context.Context, hash []byte) (identity.Login, error)

	// Seen records that the holder of a login was seen.
	Seen(ctx context.Context, hash []byte, now time.Time) error

	// SignOut deletes a login; an unknown one is not an error.
	SignOut(ctx context.Context, hash []byte) error
}

// Store stores links, logins and keys. store.DB implements it.
type Store interface {
	Links
	Logins
	Keys
}

// Config configures an Auth.
type Config struct {
	Store    Store            // required
	Accounts Accounts         // passwords and rights; nil: there are none
	Crowd    Crowds           // links from crowd platforms; nil: there are none
	Tokens   Tokens           // of programs; nil: there are none
	Now      func() time.Time // default time.Now
}

// Auth issues and checks links and cookies. Its methods may be called from any
// goroutine.
type Auth struct {
	store    Store
	accounts Accounts
	crowds   Crowds
	tokens   Tokens
	hashing  chan struct{} // one element for each password that is being hashed
	now      func() time.Time
}

// New returns an Auth.
func New(c Config) *Auth {
	if c.Store == nil {
		panic("auth: no store")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Auth{store: c.Store, accounts: c.Accounts, crowds: c.Crowd, tokens: c.Tokens, hashing: make(chan struct{}, hashers), now: c.Now}
}

// Limits of an invitation.
const (
	MaxUses           = 10000
	MaxInvitationDays = 365
)

// reserved are names in the audit trail that are not those of accounts.
var reserved = []string{"command line"}

const (
	signInLinkLife = time.Hour

	maxName = 80 // characters, of an account, an annotator or a token
)

// NewResearcherLink is NewLink for a researcher.
func (a *Auth) NewResearcherLink(ctx context.Context, user string) (token string, err error) {
	return a.NewLink(ctx, user, identity.Researcher)
}

// NewLink returns the token of a link that signs in an account once, within an hour; links of the
// account before it no longer work. It adds the account with a role if the name is new. It returns
// an error of kind Invalid if user is not a valid name, and of kind Conflict if the account is
// revoked.
func (a *Auth) NewLink(ctx context.Context, user string, role identity.Role) (token string, err error) {
	user, err = cleanName(user)
	switch {
	case err != nil:
		return "", err
	case user == "":
		return "", idrl.Errorf(idrl.Invalid, "an account needs a name")
	case slices.Contains(reserved, user):
		return "", idrl.Errorf(idrl.Invalid, "an account cannot be called %q, which stands for something else in the history of sessions", user)
	case !slices.Contains(identity.Roles(), role):
		return "", idrl.Errorf(idrl.Invalid, "unknown role %q; use one of %v", role, identity.Roles())
	}
	now := a.now()
	if err := a.store.AddUser(ctx, user, role, now); err != nil {
		return "", err
	}
	token, hash := newToken()
	_, err = a.store.Invite(ctx, hash, identity.Invitation{User: user, Uses: 1, CreatedAt: now, ExpiresAt: now.Add(signInLinkLife)})
	return token, err
}

// NewInvitation returns the token of a link by which a number of annotators (uses) can join a
// session, valid for the time life. It returns an error of kind Invalid if uses or life is out of
// range and of kind NotFound if there is no such session.
func (a *Auth) NewInvitation(ctx context.Context, session idrl.SessionID, uses int, life time.Duration) (token string, err error) {
	if err := checkInvitation(session, uses, life); err != nil {
		return "", err
	}
	token, hash := newToken()
	now := a.now()
	_, err = a.store.Invite(ctx, hash, identity.Invitation{Session: session, Uses: uses, CreatedAt: now, ExpiresAt: now.Add(life)})
	return token, err
}

func checkInvitation(session idrl.SessionID, uses int, life time.Duration) error {
	switch {
	case session == "":
		return idrl.Errorf(idrl.Invalid, "an invitation needs a session; name one")
	case uses < 1 || uses > MaxUses:
		return idrl.Errorf(idrl.Invalid, "an invitation is for 1 to %d annotators; got %d", MaxUses, uses)
	case life <= 0 || life > MaxInvitationDays*24*time.Hour:
		return idrl.Errorf(idrl.Invalid, "an invitation is valid for at most %d days", MaxInvitationDays)
	}
	return nil
}

// PeekResearcher returns the researcher that a sign-in link would sign in. It does not use up the
// link, because programs that check links must not. It returns an error of kind NotFound, in words
// for people, if the link is not valid.
func (a *Auth) PeekResearcher(ctx context.Context, token string) (user string, err error) {
	user, _, err = a.peek(ctx, token)
	if err == nil && user == "" {
		err = notValid()
	}
	return user, err
}

// PeekInvitation returns the session of an invitation, under the rules of PeekResearcher.
func (a *Auth) PeekInvitation(ctx context.Context, token string) (idrl.SessionID, error) {
	_, session, err := a.peek(ctx, token)
	if err == nil && session == "" {
		err = notValid()
	}
	return session, err
}

// InvitationSession returns the session of an invitation, also if it is used up. The page uses it
// to find the annotator of a browser that has joined. It grants no access. It returns an error of
// kind NotFound if there is no such invitation.
func (a *Auth) InvitationSession(ctx context.Context, token string) (id idrl.SessionID, err error) {
	hash, err := hashToken(token)
	if err == nil {
		id, err = a.store.InvitationSession(ctx, hash)
	}
	return id, forPeople(err)
}

func (a *Auth) peek(ctx context.Context, token string) (user string, session idrl.SessionID, err error) {
	hash, err := hashToken(token)
	if err == nil {
		user, session, err = a.store.Invitation(ctx, hash, a.now())
	}
	return user, session, forPeople(err)
}

// RedeemResearcher uses up a sign-in link and returns the researcher with the token of their
// cookie. It returns an error of kind NotFound if the link is not valid.
func (a *Auth) RedeemResearcher(ctx context.Context, token string) (Actor, string, error) {
	if _, err := a.PeekResearcher(ctx, token); err != nil {
		return Actor{}, "", err
	}
	return a.signIn(ctx, token, "", Researcher)
}

// Redeem uses an invitation once and returns the new annotator, whose name may be given, with the
// token of their cookie. It returns an error of kind NotFound if the link is not valid and of kind
// Invalid if the name is not valid.
func (a *Auth) Redeem(ctx context.Context, token, name string) (Actor, string, error) {
	name, err := cleanName(name)
	if err != nil {
		return Actor{}, "", err
	}
	if _, err := a.PeekInvitation(ctx, token); err != nil {
		return Actor{}, "", err
	}
	return a.signIn(ctx, token, name, Annotator)
}

func (a *Auth) signIn(ctx context.Context, token, name string, role Role) (Actor, string, error) {
	link, err := hashToken(token)
	if err != nil {
		return Actor{}, "", forPeople(err)
	}
	cookie, hash := newToken()
	login, err := a.store.SignIn(ctx, link, hash, name, limits(role), a.now())
	if err != nil {
		return Actor{}, "", forPeople(err)
	}
	return actor(login), cookie, nil
}

func actor(l identity.Login) Actor {
	switch {
	case l.User != "":
		return Actor{Role: Role(l.Role), User: l.User}
	case l.Revoked:
		return Actor{Role: Removed, Session: l.Session, Annotator: l.Annotator, Narrow: l.Narrow}
	}
	return Actor{Role: Annotator, Session: l.Session, Annotator: l.Annotator, Narrow: l.Narrow}
}

// cleanName trims the name of an account, an annotator or a token. It returns an error of
// kind Invalid that says what to change.
func cleanName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "", idrl.Errorf(idrl.Invalid, "the name must be plain text on one line")
	case utf8.RuneCountInString(name) > maxName:
		return "", idrl.Errorf(idrl.Invalid, "the name must have at most %d characters", maxName)
	case !idrl.IsVisible(name):
		return "", idrl.NotVisible("name")
	}
	return name, nil
}

func notValid() error {
	return idrl.Errorf(idrl.NotFound, "this link is not valid: it was already used, has expired, was revoked, or is incomplete; ask for a new one")
}

// forPeople gives every reason why a link does not work the same text, which also reveals nothing
// to strangers.
func forPeople(err error) error {
	if idrl.KindOf(err) == idrl.NotFound {
		return notValid()
	}
	return err
}
