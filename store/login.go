package store

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// findInvitation yields the person or session of a link that is valid at a time.
const findInvitation = `
	SELECT user_id, session_id FROM invitation WHERE hash = ? AND uses_left > 0 AND revoked_at IS NULL AND expires_at > ?`

// Invitation returns the person or session of a link that is valid now, or an error of kind
// NotFound if it is unknown, expired, revoked or used up. It does not use the link.
func (db access) Invitation(ctx context.Context, hash []byte, now time.Time) (user string, session idrl.SessionID, err error) {
	err = db.read.QueryRowContext(ctx, findInvitation, hash, encodeTime(now)).Scan(text(&user), text(&session))
	return user, session, missing(err, "the invitation is not valid")
}

// InvitationSession returns the session of a link, also of one that is used up, or an error of kind
// NotFound if it is unknown or a researcher's.
func (db access) InvitationSession(ctx context.Context, hash []byte) (session idrl.SessionID, err error) {
	const query = `SELECT session_id FROM invitation WHERE hash = ? AND session_id IS NOT NULL`
	err = db.read.QueryRowContext(ctx, query, hash).Scan(text(&session))
	return session, missing(err, "there is no such invitation")
}

// SignIn uses a link once, and records the login whose cookie has the SHA-256
// login. If the link is for annotators it adds one, called name. Other logins of a
// researcher that have expired end. It returns who signed in, or the errors of
// Invitation. Two calls cannot share a link's last use.
func (db access) SignIn(ctx context.Context, link, login []byte, name string, limit identity.LoginLimit, now time.Time) (l identity.Login, err error) {
	l.Since, l.SeenAt = now, now
	err = db.do(ctx, func(t *tx) error {
		if err := t.row(findInvitation, link, encodeTime(now)).Scan(text(&l.User), text(&l.Session)); err != nil {
			return missing(err, "the invitation is not valid")
		}
		if _, err := t.exec(`UPDATE invitation SET uses_left = uses_left - 1 WHERE hash = ?`, link); err != nil {
			return err
		}
		actor := l.User
		if l.User != "" {
			if l.Role, err = t.active(l.User); err != nil {
				return err
			}
		}
		if l.Session != "" {
			var err error
			if l.Annotator, err = t.createAnnotator(l.Session, name, now); err != nil {
				return err
			}
			actor = string(l.Annotator)
			const joined = `
				UPDATE annotator SET invitation_id = (SELECT id FROM invitation WHERE hash = ?) WHERE session_id = ? AND id = ?`
			if _, err := t.exec(joined, link, l.Session, l.Annotator); err != nil {
				return err
			}
		}
		if err := t.addLogin(login, l, limit); err != nil {
			return err
		}
		return t.audit(now, l.Session, actor, "sign in", "")
	})
	return l, err
}

// addLogin records a login, and ends others of its holder as limit says. It keeps at most
// limit.Narrow narrow ones, including the new one.
func (t *tx) addLogin(hash []byte, l identity.Login, limit identity.LoginLimit) error {
	const insert = `
		INSERT INTO login (hash, user_id, session_id, annotator_id, created_at, seen_at, narrow) VALUES (?, ?, ?, ?, ?, ?, ?)`
	now := l.Since
	_, err := t.exec(insert, hash, null(l.User), null(l.Session), null(l.Annotator), encodeTime(now), encodeTime(l.SeenAt), l.Narrow)
	if err != nil {
		return err
	}
	const expire = `
		DELETE FROM login WHERE user_id IS ? AND session_id IS ? AND annotator_id IS ? AND (created_at < ? OR seen_at < ?)`
	_, err = t.exec(expire, null(l.User), null(l.Session), null(l.Annotator), encodeTime(now.Add(-limit.Absolute)), encodeTime(now.Add(-limit.Idle)))
	if err != nil || !l.Narrow {
		return err
	}
	const prune = `
		DELETE FROM login WHERE session_id = ?1 AND annotator_id = ?2 AND narrow AND hash <> ?3 AND hash NOT IN (
			SELECT hash FROM login WHERE session_id = ?1 AND annotator_id = ?2 AND narrow AND hash <> ?3
			ORDER BY seen_at DESC LIMIT ?4)`
	_, err = t.exec(prune, l.Session, l.Annotator, hash, limit.Narrow-1)
	return err
}

// Login returns the holder of the cookie with this SHA-256, or an error of kind NotFound.
func (db access) Login(ctx context.Context, hash []byte) (l identity.Login, err error) {
	const query = `
		SELECT login.user_id, user.role, login.session_id, login.annotator_id, login.created_at, login.seen_at, annotator.revoked_at IS NOT NULL, login.narrow
		FROM login LEFT JOIN user ON user.id = login.user_id LEFT JOIN annotator ON annotator.session_id = login.session_id AND annotator.id = login.annotator_id
		WHERE login.hash = ?`
	err = db.read.QueryRowContext(ctx, query, hash).
		Scan(text(&l.User), text(&l.Role), text(&l.Session), text(&l.Annotator), timeColumn{&l.Since}, timeColumn{&l.SeenAt}, &l.Revoked, &l.Narrow)
	return l, missing(err, "there is no such login")
}

// Seen records that the holder of a login was seen at now.
func (db access) Seen(ctx context.Context, hash []byte, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE login SET seen_at = max(seen_at, ?) WHERE hash = ?`, encodeTime(now), hash)
		return err
	})
}

// SignOut deletes a login; an unknown one is not an error.
func (db access) SignOut(ctx context.Context, hash []byte) error {
	return db.do(ctx, func(t *tx) error {
		_, err := t.exec(`DELETE FROM login WHERE hash = ?`, hash)
		return err
	})
}
