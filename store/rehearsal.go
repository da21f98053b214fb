package store

import (
	"context"
	"time"

	"tiebreak/internal/base/record"
)

// MaxRehearsals is how many rehearsals are kept for an account.
const MaxRehearsals = 50

// BeginRehearsal keeps a rehearsal that has begun, in place of the oldest of the account if it has MaxRehearsals. It returns an
// error of kind NotFound if there is no such account.
func (db researching) BeginRehearsal(ctx context.Context, r record.Rehearsal) error {
	return db.do(ctx, func(t *tx) error {
		const put = `INSERT INTO rehearsal (name, user_id, title, asked, began_at) VALUES (?, ?, ?, ?, ?)`
		if _, err := t.exec(put, r.Name, r.Owner, r.Title, string(r.Asked), encodeTime(r.Began)); err != nil {
			return dangling(err, "there is no account %q", r.Owner)
		}
		const trim = `DELETE FROM rehearsal WHERE user_id = ? AND id NOT IN (SELECT id FROM rehearsal WHERE user_id = ? ORDER BY id DESC LIMIT ?)`
		_, err := t.exec(trim, r.Owner, r.Owner, MaxRehearsals)
		return err
	})
}

// EndRehearsal keeps the end of a rehearsal: its report as JSON, or what went wrong. It may be no longer among those that are kept.
func (db researching) EndRehearsal(ctx context.Context, name, wrong string, report []byte, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE rehearsal SET ended_at = ?, wrong = ?, report = ? WHERE name = ?`, encodeTime(now), wrong, string(report), name)
		return err
	})
}

// Rehearsal returns a rehearsal, or an error of kind NotFound.
func (db researching) Rehearsal(ctx context.Context, name string) (r record.Rehearsal, err error) {
	const query = `SELECT name, user_id, title, asked, began_at, ended_at, wrong, report FROM rehearsal WHERE name = ?`
	err = db.read.QueryRowContext(ctx, query, name).Scan(&r.Name, &r.Owner, &r.Title, &r.Asked, timeColumn{&r.Began}, timeColumn{&r.Ended}, &r.Wrong, &r.Report)
	return r, missing(err, "there is no rehearsal %q", name)
}

// Rehearsals returns the rehearsals of an account, or of all if it is empty, the newest first, without what was asked and reported.
func (db researching) Rehearsals(ctx context.Context, owner string) (out []record.Rehearsal, err error) {
	err = each(ctx, db.read, func(row scanner) error {
		var r record.Rehearsal
		err := row.Scan(&r.Name, &r.Owner, &r.Title, timeColumn{&r.Began}, timeColumn{&r.Ended}, &r.Wrong)
		out = append(out, r)
		return err
	}, `SELECT name, user_id, title, began_at, ended_at, wrong FROM rehearsal WHERE ? IN ('', user_id) ORDER BY id DESC`, owner)
	return out, err
}
