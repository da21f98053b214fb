package auth

import (
	"context"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Crowds stores links from crowd platforms. hash is the SHA-256 of a link's token.
type Crowds interface {
	// InviteCrowd is Links.Invite for such a link.
	InviteCrowd(ctx context.Context, hash []byte, i identity.Invitation, c identity.Crowd) (int64, error)

	// Crowd returns the session of a link and its Crowd, or an error of kind NotFound if it is not
	// a crowd link, has expired or is revoked.
	Crowd(ctx context.Context, hash []byte, now time.Time) (idrl.SessionID, identity.Crowd, error)

	// SignInParticipant signs a participant in: a known one as the same annotator, with a login
	// that is Narrow, or as a new annotator. Other logins of theirs end as limit says. For an
	// annotator whose part has ended it records no login, and returns one that is Revoked. It
	// returns an error of kind NotFound if the link is not valid.
	SignInParticipant(ctx context.Context, link, hash []byte, p record.Participant, limit identity.LoginLimit, now time.Time) (identity.Login, error)
}

// NewCrowdInvitation is NewInvitation of a link from a crowd platform.
func (a *Auth) NewCrowdInvitation(ctx context.Context, session idrl.SessionID, uses int, life time.Duration, c identity.Crowd) (token string, err error) {
	if err := checkInvitation(session, uses, life); err != nil {
		return "", err
	}
	token, hash := newToken()
	now := a.now()
	_, err = a.crowds.InviteCrowd(ctx, hash, identity.Invitation{Session: session, Uses: uses, CreatedAt: now, ExpiresAt: now.Add(life)}, c)
	return token, err
}

// Crowd returns the session of a crowd link and its Crowd, or an error of kind NotFound if it is
// not one.
func (a *Auth) Crowd(ctx context.Context, token string) (id idrl.SessionID, c identity.Crowd, err error) {
	hash, err := hashToken(token)
	if err == nil && a.crowds == nil {
		err = notValid()
	}
	if err == nil {
		id, c, err = a.crowds.Crowd(ctx, hash, a.now())
	}
	return id, c, forPeople(err)
}

// RedeemParticipant signs a participant in by a crowd link and returns the annotator with the token
// of their cookie. An annotator whose part a researcher has ended is Removed and gets no cookie. It
// returns an error of kind NotFound if the link is not valid.
func (a *Auth) RedeemParticipant(ctx context.Context, token string, p record.Participant) (Actor, string, error) {
	link, err := hashToken(token)
	if err != nil {
		return Actor{}, "", forPeople(err)
	}
	cookie, hash := newToken()
	login, err := a.crowds.SignInParticipant(ctx, link, hash, p, limits(Annotator), a.now())
	if err != nil {
		return Actor{}, "", forPeople(err)
	}
	if login.Revoked {
		cookie = ""
	}
	return actor(login), cookie, nil
}
