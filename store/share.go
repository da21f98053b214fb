package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Right returns what was given to an account in a session; identity.NoRight for nothing, or for an
// account that does not exist. It returns an error of kind NotFound if there is no such session.
func (db access) Right(ctx context.Context, session idrl.SessionID, user string) (right identity.Right, err error) {
	const query = `
		SELECT (SELECT share_right FROM share WHERE session_id = session.id AND user_id = ?) FROM session WHERE id = ?`
	err = db.read.QueryRowContext(ctx, query, user, session).Scan(text(&right))
	return right, missing(err, "there is no session %q", session)
}

// Shared returns what was given to an account, by session.
func (db access) Shared(ctx context.Context, user string) (map[idrl.SessionID]identity.Right, error) {
	out := map[idrl.SessionID]identity.Right{}
	err := each(ctx, db.read, func(row scanner) error {
		var id idrl.SessionID
		var right identity.Right
		err := row.Scan(&id, &right)
		out[id] = right
		return err
	}, `SELECT session_id, share_right FROM share WHERE user_id = ?`, user)
	return out, err
}

// Shares returns to whom a session was given, the owner first, the others by name.
func (db access) Shares(ctx context.Context, session idrl.SessionID) (out []identity.Share, err error) {
	const query = `
		SELECT session_id, user_id, user.role, share_right FROM share JOIN user ON user.id = user_id
		WHERE session_id = ? AND user.revoked_at IS NULL ORDER BY share_right <> 'own', user_id`
	err = each(ctx, db.read, func(row scanner) error {
		var s identity.Share
		err := row.Scan(&s.Session, &s.User, &s.Role, &s.Right)
		out = append(out, s)
		return err
	}, query, session)
	return out, err
}

// Share gives an account a right in a session, in place of what it had; identity.NoRight takes it
// away. A new owner leaves the old one the right to change. It returns an error of kind NotFound if
// there is no such session or account, and of kind Conflict for the owner of the session, who can
// only be replaced, for a revoked account, and for a viewer as owner.
func (db access) Share(ctx context.Context, s identity.Share, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		if _, err := t.current(s.Session); err != nil {
			return err
		}
		role, err := t.active(s.User)
		if err != nil && (s.Right != identity.NoRight || idrl.KindOf(err) != idrl.Conflict) {
			return err
		}
		if s.Right == identity.RightOwn && role == identity.Viewer {
			return idrl.Errorf(idrl.Conflict, "%q is a viewer, who cannot own a session", s.User)
		}
		had, err := t.right(s.Session, s.User)
		switch {
		case err != nil || had == s.Right:
			return err
		case had == identity.RightOwn:
			return idrl.Errorf(idrl.Conflict, "%q owns the session; give it to another account instead", s.User)
		}
		return t.share(s, actor, now)
	})
}

func (t *tx) right(session idrl.SessionID, user string) (right identity.Right, err error) {
	err = t.row(`SELECT share_right FROM share WHERE session_id = ? AND user_id = ?`, session, user).Scan(&right)
	if errors.Is(err, sql.ErrNoRows) {
		return identity.NoRight, nil
	}
	return right, convert(err)
}

func (t *tx) share(s identity.Share, actor string, now time.Time) error {
	if s.Right == identity.NoRight {
		if _, err := t.exec(`DELETE FROM share WHERE session_id = ? AND user_id = ?`, s.Session, s.User); err != nil {
			return err
		}
		return t.changed(now, s.Session, actor, "take right", s.User)
	}
	if s.Right == identity.RightOwn {
		if _, err := t.exec(`UPDATE share SET share_right = 'change' WHERE session_id = ? AND share_right = 'own'`, s.Session); err != nil {
			return err
		}
	}
	const put = `INSERT INTO share VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET share_right = excluded.share_right`
	if _, err := t.exec(put, s.Session, s.User, s.Right); err != nil {
		return err
	}
	return t.changed(now, s.Session, actor, "give right", s.User+": "+string(s.Right))
}
