package store

import (
	"context"
	"time"

	"tiebreak/internal/people/identity"
)

// AddRejoinKey records a key with which an annotator can sign in again, by the
// key's SHA-256. Of an annotator's keys it keeps the most that were used last.
// It returns an error of kind NotFound if there is no such annotator.
func (db access) AddRejoinKey(ctx context.Context, hash []byte, k identity.RejoinKey, most int) error {
	return db.do(ctx, func(t *tx) error {
		const insert = `INSERT INTO rejoin_key (hash, session_id, annotator_id, created_at, used_at) VALUES (?, ?, ?, ?, ?)`
		if _, err := t.exec(insert, hash, k.Session, k.Annotator, encodeTime(k.Since), encodeTime(k.UsedAt)); err != nil {
			return dangling(err, "there is no annotator %q in session %q", k.Annotator, k.Session)
		}
		const prune = `
			DELETE FROM rejoin_key WHERE session_id = ?1 AND annotator_id = ?2 AND hash <> ?3 AND hash NOT IN (
				SELECT hash FROM rejoin_key WHERE session_id = ?1 AND annotator_id = ?2 AND hash <> ?3
				ORDER BY used_at DESC LIMIT ?4)`
		_, err := t.exec(prune, k.Session, k.Annotator, hash, most-1)
		return err
	})
}

// livingKey finds a key by its hash, unless a researcher has ended its annotator's
// part.
const livingKey = `
	WHERE hash = ? AND EXISTS (SELECT 1 FROM annotator
		WHERE annotator.session_id = rejoin_key.session_id AND annotator.id = annotator_id AND revoked_at IS NULL)`

// RejoinKey returns the key with this SHA-256, or an error of kind NotFound, also if a researcher
// has ended the part of its annotator.
func (db access) RejoinKey(ctx context.Context, hash []byte) (k identity.RejoinKey, err error) {
	const query = `SELECT session_id, annotator_id, created_at, used_at FROM rejoin_key` + livingKey
	err = db.read.QueryRowContext(ctx, query, hash).Scan(&k.Session, &k.Annotator, timeColumn{&k.Since}, timeColumn{&k.UsedAt})
	return k, missing(err, "there is no such key")
}

// UseRejoinKey records that a key was used.
func (db access) UseRejoinKey(ctx context.Context, hash []byte, now time.Time) error {
	return db.do(ctx, func(t *tx) error { return t.useRejoinKey(hash, now) })
}

func (t *tx) useRejoinKey(hash []byte, now time.Time) error {
	_, err := t.exec(`UPDATE rejoin_key SET used_at = max(used_at, ?) WHERE hash = ?`, encodeTime(now), hash)
	return err
}

// Rejoin uses a key and records a login of its annotator, in one transaction. Other
// logins of theirs end as limit says. It returns an error of kind NotFound if the key
// is not there.
func (db access) Rejoin(ctx context.Context, key, login []byte, limit identity.LoginLimit, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		l := identity.Login{Since: now, SeenAt: now}
		const find = `SELECT session_id, annotator_id FROM rejoin_key` + livingKey
		if err := t.row(find, key).Scan(&l.Session, &l.Annotator); err != nil {
			return missing(err, "there is no such key")
		}
		if err := t.useRejoinKey(key, now); err != nil {
			return err
		}
		if err := t.addLogin(login, l, limit); err != nil {
			return err
		}
		return t.audit(now, l.Session, string(l.Annotator), "rejoin", "")
	})
}
