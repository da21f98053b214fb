package store

import (
	"context"
	"time"

	"tiebreak/internal/people/identity"
)

// AddUser adds a researcher; an existing one is kept.
func (db access) AddUser(ctx context.Context, user string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		n, err := t.exec(`INSERT INTO user (id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING`, user, encodeTime(now))
		if err != nil || n == 0 {
			return err
		}
		return t.audit(now, "", user, "add user", user)
	})
}

// Users returns the researchers, by name.
func (db access) Users(ctx context.Context) (out []identity.User, err error) {
	const query = `
		SELECT user.id, user.created_at, count(login.hash), max(login.seen_at)
		FROM user LEFT JOIN login ON login.user_id = user.id GROUP BY user.id ORDER BY user.id`
	err = each(ctx, db.read, func(row scanner) error {
		var u identity.User
		err := row.Scan(&u.Name, timeColumn{&u.AddedAt}, &u.Logins, timeColumn{&u.SeenAt})
		out = append(out, u)
		return err
	}, query)
	return out, err
}

// SignedIn reports whether a researcher has ever signed in.
func (db access) SignedIn(ctx context.Context) (yes bool, err error) {
	const query = `SELECT EXISTS (SELECT 1 FROM invitation WHERE user_id IS NOT NULL AND uses_left = 0)`
	err = db.read.QueryRowContext(ctx, query).Scan(&yes)
	return yes, convert(err)
}

// LogOut ends every login of a researcher and revokes their sign-in links. It
// returns how many of each there were, or an error of kind NotFound if there is no
// such researcher.
func (db access) LogOut(ctx context.Context, user, actor string, now time.Time) (logins, links int64, err error) {
	err = db.do(ctx, func(t *tx) (err error) {
		var one int
		if err := t.row(`SELECT 1 FROM user WHERE id = ?`, user).Scan(&one); err != nil {
			return missing(err, "there is no researcher %q", user)
		}
		if logins, err = t.exec(`DELETE FROM login WHERE user_id = ?`, user); err != nil {
			return err
		}
		if links, err = t.revokeSignInLinks(user, now); err != nil {
			return err
		}
		return t.changed(now, "", actor, "log out", user)
	})
	return logins, links, err
}

// RevokeSignInLinks revokes the links by which a researcher could still sign in. Logins stay.
func (db access) RevokeSignInLinks(ctx context.Context, user string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		n, err := t.revokeSignInLinks(user, now)
		if err != nil || n == 0 {
			return err
		}
		return t.audit(now, "", user, "revoke link", user)
	})
}

func (t *tx) revokeSignInLinks(user string, now time.Time) (links int64, err error) {
	const revoke = `
		UPDATE invitation SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL AND uses_left > 0 AND expires_at > ?`
	return t.exec(revoke, encodeTime(now), user, encodeTime(now))
}
