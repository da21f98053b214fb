package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// AddUser adds an account with a role; the first of all is an admin. An existing one is kept. It
// returns an error of kind Conflict if it is revoked.
func (db access) AddUser(ctx context.Context, user string, role identity.Role, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		const insert = `
			INSERT INTO user (id, created_at, role) VALUES (?, ?, iif(EXISTS (SELECT 1 FROM user), ?, 'admin')) ON CONFLICT DO NOTHING`
		n, err := t.exec(insert, user, encodeTime(now), role)
		if err != nil {
			return err
		}
		if n == 1 {
			return t.audit(now, "", user, "add user", user)
		}
		_, err = t.active(user)
		return err
	})
}

// active returns the role of an account, an error of kind NotFound if there is none, and of kind
// Conflict if it is revoked.
func (t *tx) active(user string) (role identity.Role, err error) {
	var revoked bool
	if err := t.row(`SELECT role, revoked_at IS NOT NULL FROM user WHERE id = ?`, user).Scan(&role, &revoked); err != nil {
		return "", missing(err, "there is no account %q", user)
	}
	if revoked {
		return "", idrl.Errorf(idrl.Conflict, "the account %q is revoked; give it a role to restore it", user)
	}
	return role, nil
}

// SetRole changes the role of an account, and restores a revoked one. It returns an error of kind
// NotFound if there is none, and of kind Conflict if no admin would be left.
func (db access) SetRole(ctx context.Context, user string, role identity.Role, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		if role != identity.Admin {
			if err := t.leavesAdmin(user); err != nil {
				return err
			}
		}
		n, err := t.exec(`UPDATE user SET role = ?, revoked_at = NULL WHERE id = ?`, role, user)
		switch {
		case err != nil:
			return err
		case n == 0:
			return idrl.Errorf(idrl.NotFound, "there is no account %q", user)
		}
		return t.changed(now, "", actor, "set role", user+": "+string(role))
	})
}

// RevokeUser ends the logins of an account, its links, its password and its tokens; it cannot sign
// in. What was shared with it stays recorded, for when it is restored. It returns an error of kind
// NotFound if there is none, and of kind Conflict if no admin would be left.
func (db access) RevokeUser(ctx context.Context, user, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		if err := t.leavesAdmin(user); err != nil {
			return err
		}
		n, err := t.exec(`UPDATE user SET revoked_at = coalesce(revoked_at, ?), password = NULL WHERE id = ?`, encodeTime(now), user)
		switch {
		case err != nil:
			return err
		case n == 0:
			return idrl.Errorf(idrl.NotFound, "there is no account %q", user)
		}
		if _, err := t.exec(`DELETE FROM login WHERE user_id = ?`, user); err != nil {
			return err
		}
		if _, err := t.revokeSignInLinks(user, now); err != nil {
			return err
		}
		return t.changed(now, "", actor, "revoke user", user)
	})
}

// leavesAdmin returns an error of kind Conflict if user is the only admin.
func (t *tx) leavesAdmin(user string) error {
	var last bool
	const query = `
		SELECT EXISTS (SELECT 1 FROM user WHERE id = ?1 AND role = 'admin' AND revoked_at IS NULL)
			AND NOT EXISTS (SELECT 1 FROM user WHERE id <> ?1 AND role = 'admin' AND revoked_at IS NULL)`
	if err := t.row(query, user).Scan(&last); err != nil {
		return convert(err)
	}
	if last {
		return idrl.Errorf(idrl.Conflict, "%q is the only admin; make another account admin first", user)
	}
	return nil
}

// Users returns the accounts, by name.
func (db access) Users(ctx context.Context) (out []identity.User, err error) {
	const query = `
		SELECT user.id, user.role, user.created_at, user.revoked_at, user.password IS NOT NULL, count(login.hash), max(login.seen_at)
		FROM user LEFT JOIN login ON login.user_id = user.id GROUP BY user.id ORDER BY user.id`
	err = each(ctx, db.read, func(row scanner) error {
		var u identity.User
		err := row.Scan(&u.Name, &u.Role, timeColumn{&u.AddedAt}, timeColumn{&u.RevokedAt}, &u.Password, &u.Logins, timeColumn{&u.SeenAt})
		out = append(out, u)
		return err
	}, query)
	return out, err
}

// Password returns the hash of an account's password; empty if it has none, is revoked, or does not
// exist.
func (db access) Password(ctx context.Context, user string) (hash string, err error) {
	const query = `SELECT password FROM user WHERE id = ? AND revoked_at IS NULL`
	err = db.read.QueryRowContext(ctx, query, user).Scan(text(&hash))
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return hash, convert(err)
}

// SetPassword records the hash of a password. It returns an error of kind NotFound if there is no
// such account, and of kind Conflict if it is revoked.
func (db access) SetPassword(ctx context.Context, user, hash string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		if _, err := t.active(user); err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE user SET password = ? WHERE id = ?`, hash, user); err != nil {
			return err
		}
		return t.audit(now, "", user, "set password", user)
	})
}

// SignInAccount records a login of an account whose password was right: hash, which was read
// before. It returns an error of kind Conflict if the password or the account has changed since.
func (db access) SignInAccount(ctx context.Context, user, hash string, login []byte, limit identity.LoginLimit, now time.Time) (l identity.Login, err error) {
	err = db.do(ctx, func(t *tx) (err error) {
		l = identity.Login{User: user, Since: now, SeenAt: now}
		const find = `SELECT role FROM user WHERE id = ? AND password = ? AND revoked_at IS NULL`
		if err := t.row(find, user, hash).Scan(&l.Role); errors.Is(err, sql.ErrNoRows) {
			return idrl.Errorf(idrl.Conflict, "the account has changed; sign in again")
		} else if err != nil {
			return convert(err)
		}
		if err := t.addLogin(login, l, limit); err != nil {
			return err
		}
		return t.audit(now, "", user, "sign in", "password")
	})
	return l, err
}

// Refused records an attempt to sign in with a wrong password. user is empty if there is no such
// account.
func (db access) Refused(ctx context.Context, user string, now time.Time) error {
	return db.do(ctx, func(t *tx) error { return t.audit(now, "", user, "wrong password", user) })
}

// SignedIn reports whether a researcher has ever signed in.
func (db access) SignedIn(ctx context.Context) (yes bool, err error) {
	const query = `SELECT EXISTS (SELECT 1 FROM invitation WHERE user_id IS NOT NULL AND uses_left = 0)`
	err = db.read.QueryRowContext(ctx, query).Scan(&yes)
	return yes, convert(err)
}

// LogOut ends every login of an account and revokes its sign-in links. It
// returns how many of each there were, or an error of kind NotFound if there is no
// such account.
func (db access) LogOut(ctx context.Context, user, actor string, now time.Time) (logins, links int64, err error) {
	err = db.do(ctx, func(t *tx) (err error) {
		var one int
		if err := t.row(`SELECT 1 FROM user WHERE id = ?`, user).Scan(&one); err != nil {
			return missing(err, "there is no account %q", user)
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

func (t *tx) revokeSignInLinks(user string, now time.Time) (links int64, err error) {
	const revoke = `
		UPDATE invitation SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL AND uses_left > 0 AND expires_at > ?`
	return t.exec(revoke, encodeTime(now), user, encodeTime(now))
}
