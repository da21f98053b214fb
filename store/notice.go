package store

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// MaxUnsent is how many notices wait for a web hook at most.
const MaxUnsent = 100

// ToldNotices returns what researchers were told of all sessions.
func (db researching) ToldNotices(ctx context.Context) (out []record.ToldNotice, err error) {
	err = each(ctx, db.read, func(row scanner) error {
		var n record.ToldNotice
		err := row.Scan(&n.Session, &n.Kind, &n.Text, timeColumn{&n.Since}, timeColumn{&n.Told}, &n.Holds)
		out = append(out, n)
		return err
	}, `SELECT session_id, kind, text, since, told_at, holds FROM notice ORDER BY session_id, kind`)
	return out, err
}

// KeepNotices replaces what was told of a session, and adds notices that wait for a web hook, in one transaction. It returns
// how many of the oldest it removed because more than MaxUnsent would wait.
func (db researching) KeepNotices(ctx context.Context, id idrl.SessionID, told []record.ToldNotice, unsent []record.UnsentNotice) (removed int64, err error) {
	err = db.do(ctx, func(t *tx) error {
		if _, err := t.exec(`DELETE FROM notice WHERE session_id = ?`, id); err != nil {
			return err
		}
		for _, n := range told {
			const put = `INSERT INTO notice (session_id, kind, text, since, told_at, holds) VALUES (?, ?, ?, ?, ?, ?)`
			if _, err := t.exec(put, id, n.Kind, n.Text, encodeTime(n.Since), encodeTime(n.Told), n.Holds); err != nil {
				return dangling(err, "there is no session %q", id)
			}
		}
		if len(unsent) == 0 {
			return nil
		}
		for _, n := range unsent {
			const put = `INSERT INTO notice_unsent (key, session_id, title, kind, text, since) VALUES (?, ?, ?, ?, ?, ?)`
			if _, err := t.exec(put, n.Key, n.Session, n.Title, n.Kind, n.Text, encodeTime(n.Since)); err != nil {
				return dangling(err, "there is no session %q", n.Session)
			}
		}
		const trim = `DELETE FROM notice_unsent WHERE id NOT IN (SELECT id FROM notice_unsent ORDER BY id DESC LIMIT ?)`
		removed, err = t.exec(trim, MaxUnsent)
		return err
	})
	return removed, err
}

// UnsentNotices returns the notices that wait for a web hook, the first one first.
func (db researching) UnsentNotices(ctx context.Context) (out []record.UnsentNotice, err error) {
	err = each(ctx, db.read, func(row scanner) error {
		var n record.UnsentNotice
		err := row.Scan(&n.ID, &n.Key, &n.Session, &n.Title, &n.Kind, &n.Text, timeColumn{&n.Since})
		out = append(out, n)
		return err
	}, `SELECT id, key, session_id, title, kind, text, since FROM notice_unsent ORDER BY id`)
	return out, err
}

// SentNotice removes a notice that a web hook has taken.
func (db researching) SentNotice(ctx context.Context, id int64) error {
	return db.do(ctx, func(t *tx) error {
		_, err := t.exec(`DELETE FROM notice_unsent WHERE id = ?`, id)
		return err
	})
}
