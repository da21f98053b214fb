package auth

import (
	"context"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Tokens stores tokens of programs. hash is the SHA-256 of what follows TokenPrefix.
type Tokens interface {
	// AddToken records a token and returns it with its number; one of identity.ScopeLabel gets
	// an annotator of its own.
	AddToken(ctx context.Context, hash []byte, t identity.Token, actor string) (identity.Token, error)

	// Token returns a token, valid or not, or an error of kind NotFound.
	Token(ctx context.Context, hash []byte) (identity.Token, error)
}

// TokenPrefix begins the text of every token of a program, so that people and scanners of
// sources recognise one.
const TokenPrefix = "tbk_"

// MaxTokenDays is how long a token may be valid.
const MaxTokenDays = 365

// NewToken records a token for a program, and returns its text, which is shown once, and its
// record. t has its Name, Scope and Session, and the User whose rights limit it; life is how
// long it is valid. It returns an error of kind Invalid if one of these is out of range, and
// of kind NotFound if there is no such session.
func (a *Auth) NewToken(ctx context.Context, t identity.Token, life time.Duration, actor string) (token string, made identity.Token, err error) {
	if t.Name, err = cleanName(t.Name); err != nil {
		return "", t, err
	}
	switch {
	case !slices.Contains(identity.Scopes(), t.Scope):
		return "", t, idrl.Errorf(idrl.Invalid, "unknown scope %q; use one of %v", t.Scope, identity.Scopes())
	case t.Scope == identity.ScopeLabel && t.Session == "":
		return "", t, idrl.Errorf(idrl.Invalid, "a token of scope label is for one session; name it")
	case life <= 0 || life > MaxTokenDays*24*time.Hour:
		return "", t, idrl.Errorf(idrl.Invalid, "a token is valid for 1 to %d days", MaxTokenDays)
	}
	token, hash := newToken()
	t.CreatedAt = a.now()
	t.ExpiresAt = t.CreatedAt.Add(life)
	made, err = a.tokens.AddToken(ctx, hash, t, actor)
	return TokenPrefix + token, made, err
}

// Program returns the program that holds a token, the zero Actor if the token is malformed,
// unknown, expired or revoked. It is looked up by its hash, so that the duration of a call
// has no information about the token.
func (a *Auth) Program(ctx context.Context, token string) (Actor, error) {
	text, ok := strings.CutPrefix(token, TokenPrefix)
	hash, err := hashToken(text)
	if !ok || err != nil || a.tokens == nil {
		return Actor{}, nil //nolint:nilerr // a malformed token has the rights of a stranger
	}
	t, err := a.tokens.Token(ctx, hash)
	switch {
	case idrl.KindOf(err) == idrl.NotFound:
		return Actor{}, nil
	case err != nil:
		return Actor{}, err
	case !t.Live(a.now()):
		return Actor{}, nil
	}
	return Actor{Role: Program, Token: t.ID, Scope: t.Scope, Session: t.Session, Annotator: t.Annotator, User: t.User, As: Role(t.Role)}, nil
}
