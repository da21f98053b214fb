package store

import (
	"context"
	"strconv"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

const tokenColumns = `
	SELECT token.id, token.name, scope, token.session_id, token.annotator_id, token.user_id, user.role, user.revoked_at IS NOT NULL, token.created_at, expires_at, token.revoked_at, annotator.revoked_at IS NOT NULL
	FROM token LEFT JOIN user ON user.id = token.user_id LEFT JOIN annotator ON annotator.session_id = token.session_id AND annotator.id = token.annotator_id`

func tokenTargets(k *identity.Token) []any {
	return []any{
		&k.ID, nameColumn{&k.Name}, &k.Scope, text(&k.Session), text(&k.Annotator), text(&k.User), text(&k.Role), &k.Orphaned, timeColumn{&k.CreatedAt}, timeColumn{&k.ExpiresAt}, timeColumn{&k.RevokedAt}, &k.Removed,
	}
}

// AddToken records a token by its SHA-256 and returns it with its number. One of ScopeLabel
// gets an annotator of its own. It returns an error of kind NotFound if there is no such session.
func (db access) AddToken(ctx context.Context, hash []byte, k identity.Token, actor string) (identity.Token, error) {
	err := db.do(ctx, func(t *tx) (err error) {
		if k.Scope == identity.ScopeLabel {
			if k.Annotator, err = t.createAnnotator(k.Session, k.Name, k.CreatedAt); err != nil {
				return err
			}
		}
		const insert = `
			INSERT INTO token (hash, name, scope, session_id, annotator_id, user_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`
		err = t.row(insert, hash, k.Name, k.Scope, null(k.Session), null(k.Annotator), null(k.User), encodeTime(k.CreatedAt), encodeTime(k.ExpiresAt)).Scan(&k.ID)
		if err != nil {
			return dangling(err, "there is no session %q or no account %q", k.Session, k.User)
		}
		return t.changed(k.CreatedAt, k.Session, actor, "make token", tokenName(k.ID))
	})
	return k, err
}

// Token returns the token with a SHA-256, valid or not, or an error of kind NotFound.
func (db access) Token(ctx context.Context, hash []byte) (k identity.Token, err error) {
	err = db.read.QueryRowContext(ctx, tokenColumns+` WHERE token.hash = ?`, hash).Scan(tokenTargets(&k)...)
	return k, missing(err, "there is no such token")
}

// Tokens returns every token, in the order in which they were made.
func (db access) Tokens(ctx context.Context) (out []identity.Token, err error) {
	err = each(ctx, db.read, func(row scanner) error {
		var k identity.Token
		err := row.Scan(tokenTargets(&k)...)
		out = append(out, k)
		return err
	}, tokenColumns+` ORDER BY token.id`)
	return out, err
}

// RevokeToken makes a token invalid; a revoked one stays revoked. It returns an error of kind
// NotFound if there is no such token.
func (db access) RevokeToken(ctx context.Context, id int64, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		var session idrl.SessionID
		if err := t.row(`SELECT session_id FROM token WHERE id = ?`, id).Scan(text(&session)); err != nil {
			return missing(err, "there is no token %d", id)
		}
		n, err := t.exec(`UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`, encodeTime(now), id)
		if err != nil || n == 0 {
			return err
		}
		return t.changed(now, session, actor, "revoke token", tokenName(id))
	})
}

func tokenName(id int64) string { return "token " + strconv.FormatInt(id, 10) }
