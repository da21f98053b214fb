package store

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Invite records a link that is valid for Uses uses until it expires: for the researcher User, if
// that is not empty, else for annotators of Session. A link for an account revokes those before it. hash is the SHA-256 of the link's token. It
// returns the number of the link, which is not that of i, or an error of kind NotFound if there is
// no such user or session.
func (db access) Invite(ctx context.Context, hash []byte, i identity.Invitation) (id int64, err error) {
	err = db.do(ctx, func(t *tx) error {
		if err := t.row(`SELECT coalesce(max(id), 0) + 1 FROM invitation`).Scan(&id); err != nil {
			return err
		}
		if i.User != "" {
			if _, err := t.active(i.User); err != nil {
				return err
			}
			if _, err := t.revokeSignInLinks(i.User, i.CreatedAt); err != nil {
				return err
			}
		}
		const insert = `
			INSERT INTO invitation (hash, id, user_id, session_id, uses, uses_left, created_at, expires_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
		_, err := t.exec(insert, hash, id, null(i.User), null(i.Session), i.Uses, i.Uses, encodeTime(i.CreatedAt), encodeTime(i.ExpiresAt))
		if err != nil {
			return dangling(err, "there is no user %q or no session %q", i.User, i.Session)
		}
		return t.audit(i.CreatedAt, i.Session, i.User, "invite", linkName(id))
	})
	return id, err
}

// Invitations returns the links into a session, the newest first.
func (db access) Invitations(ctx context.Context, session idrl.SessionID) (out []identity.Invitation, err error) {
	const query = `
		SELECT id, session_id, coalesce(uses, 0), uses_left, created_at, expires_at, revoked_at
		FROM invitation WHERE session_id = ? ORDER BY id DESC`
	err = each(ctx, db.read, func(row scanner) error {
		var i identity.Invitation
		err := row.Scan(&i.ID, text(&i.Session), &i.Uses, &i.UsesLeft,
			timeColumn{&i.CreatedAt}, timeColumn{&i.ExpiresAt}, timeColumn{&i.RevokedAt})
		out = append(out, i)
		return err
	}, query, session)
	return out, err
}

// RevokeInvitation revokes a link into a session; a revoked one stays revoked. It returns an error
// of kind NotFound if there is no such link.
func (db access) RevokeInvitation(ctx context.Context, session idrl.SessionID, id int64, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		const update = `UPDATE invitation SET revoked_at = coalesce(revoked_at, ?) WHERE session_id = ? AND id = ?`
		n, err := t.exec(update, encodeTime(now), session, id)
		if err != nil {
			return err
		}
		if n == 0 {
			return idrl.Errorf(idrl.NotFound, "session %s has no link %d", session, id)
		}
		return t.audit(now, session, actor, "revoke link", linkName(id))
	})
}
