package store

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
)

// AddUser adds a researcher; one who is there stays.
func (db *DB) AddUser(ctx context.Context, user string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		n, err := t.exec(`INSERT INTO user (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING`, user, encodeTime(now))
		if err != nil || n == 0 {
			return err
		}
		return t.audit(now, "", user, "add user", user)
	})
}

// Invite records a link that lets in uses times until it expires: the
// researcher user, if that is not empty, else annotators of session. hash is
// the SHA-256 of the link's token. It returns an error of kind NotFound if
// there is no such user or session.
func (db *DB) Invite(ctx context.Context, hash []byte, user string, session idrl.SessionID, uses int, now, expires time.Time) error {
	return db.do(ctx, func(t *tx) error {
		const insert = `
			INSERT INTO invitation (hash, user_id, session_id, uses_left, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)`
		_, err := t.exec(insert, hash, null(user), null(session), uses, encodeTime(now), encodeTime(expires))
		if err != nil {
			return dangling(err, "there is no user %q or no session %q", user, session)
		}
		return t.audit(now, session, user, "invite", "")
	})
}

const findInvitation = `
	SELECT user_id, session_id FROM invitation WHERE hash = ? AND uses_left > 0 AND expires_at > ?`

// Invitation returns whom a link lets in now, or an error of kind NotFound if
// it is unknown, expired or used up. It uses nothing up.
func (db *DB) Invitation(ctx context.Context, hash []byte, now time.Time) (user string, session idrl.SessionID, err error) {
	err = db.read.QueryRowContext(ctx, findInvitation, hash, encodeTime(now)).Scan(text(&user), text(&session))
	return user, session, missing(err, "the invitation is not valid")
}

// SignIn uses a link once, and records the login whose cookie has the SHA-256
// login. If the link is for annotators it adds one, called name. It returns
// the errors of Invitation. Two calls cannot share a link's last use.
func (db *DB) SignIn(ctx context.Context, link, login []byte, name string, now time.Time) (user string, session idrl.SessionID, annotator idrl.AnnotatorID, err error) {
	err = db.do(ctx, func(t *tx) error {
		if err := t.row(findInvitation, link, encodeTime(now)).Scan(text(&user), text(&session)); err != nil {
			return missing(err, "the invitation is not valid")
		}
		if _, err := t.exec(`UPDATE invitation SET uses_left = uses_left - 1 WHERE hash = ?`, link); err != nil {
			return err
		}
		actor := user
		if session != "" {
			var err error
			if annotator, err = t.createAnnotator(session, name, now); err != nil {
				return err
			}
			actor = string(annotator)
		}
		const insert = `
			INSERT INTO login (hash, user_id, session_id, annotator_id, created_at, seen_at) VALUES (?, ?, ?, ?, ?, ?)`
		if _, err := t.exec(insert, login, null(user), null(session), null(annotator), encodeTime(now), encodeTime(now)); err != nil {
			return err
		}
		return t.audit(now, session, actor, "sign in", "")
	})
	return user, session, annotator, err
}

// Login returns who holds the cookie with this SHA-256, since when, and when
// they were seen last, or an error of kind NotFound.
func (db *DB) Login(ctx context.Context, hash []byte) (user string, session idrl.SessionID, annotator idrl.AnnotatorID, since, seen time.Time, err error) {
	const query = `SELECT user_id, session_id, annotator_id, created_at, seen_at FROM login WHERE hash = ?`
	err = db.read.QueryRowContext(ctx, query, hash).
		Scan(text(&user), text(&session), text(&annotator), timeColumn{&since}, timeColumn{&seen})
	return user, session, annotator, since, seen, missing(err, "there is no such login")
}

// Seen records that the holder of a login was seen at now.
func (db *DB) Seen(ctx context.Context, hash []byte, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE login SET seen_at = max(seen_at, ?) WHERE hash = ?`, encodeTime(now), hash)
		return err
	})
}

// SignOut forgets a login; one that is unknown is no error.
func (db *DB) SignOut(ctx context.Context, hash []byte) error {
	return db.do(ctx, func(t *tx) error {
		_, err := t.exec(`DELETE FROM login WHERE hash = ?`, hash)
		return err
	})
}
