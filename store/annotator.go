package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"tiebreak/internal/idrl"
)

// changesKey is the key in meta of the number of changes that a running server must
// learn of.
const changesKey = "changes"

// Changes returns how often something was changed that a running server must learn
// of: settings of sessions, and logins that ended. Another process may have done it.
func (db *DB) Changes(ctx context.Context) (n int64, err error) {
	s, err := db.Meta(ctx, changesKey)
	if err != nil || s == "" {
		return 0, err
	}
	return strconv.ParseInt(s, 10, 64)
}

// changed counts a change and records who made it.
func (t *tx) changed(at time.Time, id idrl.SessionID, actor, action, object string) error {
	const count = `
		INSERT INTO meta (key, value) VALUES (?, '1') ON CONFLICT DO UPDATE SET value = CAST(value AS INTEGER) + 1`
	if _, err := t.exec(count, changesKey); err != nil {
		return err
	}
	return t.audit(at, id, actor, action, object)
}

func linkName(id int64) string { return fmt.Sprintf("link %d", id) }

// Settings implements idrl.Journal.
func (db *DB) Settings(ctx context.Context, id idrl.SessionID) (s idrl.Settings, err error) {
	err = db.snapshot(ctx, func(from querier) (err error) {
		s, err = readSettings(ctx, from, id)
		return err
	})
	return s, err
}

func readSettings(ctx context.Context, from querier, id idrl.SessionID) (s idrl.Settings, err error) {
	spec, err := readSpec(ctx, from, id)
	if err != nil {
		return s, err
	}
	s.Budget, s.Told, s.Consent, s.Title = spec.Budget, spec.CurrentInstructions(), spec.CurrentConsent(), spec.Title
	if s.State, err = scanState(from.QueryRowContext(ctx, lastState, id)); err != nil {
		return s, err
	}
	if s.Gold, err = readGold(ctx, from, spec); err != nil {
		return s, err
	}
	const query = `
		SELECT id, revoked_at IS NOT NULL, left_out FROM annotator
		WHERE session_id = ? AND (revoked_at IS NOT NULL OR left_out) ORDER BY id`
	const withdrawn = `SELECT count(*) FROM annotator WHERE session_id = ? AND withdrawn_at IS NOT NULL`
	if err := from.QueryRowContext(ctx, withdrawn, id).Scan(&s.Withdrawals); err != nil {
		return s, convert(err)
	}
	err = each(ctx, from, func(row scanner) error {
		var who idrl.AnnotatorID
		var revoked, leftOut bool
		if err := row.Scan(&who, &revoked, &leftOut); err != nil {
			return err
		}
		if revoked {
			s.Revoked = append(s.Revoked, who)
		}
		if leftOut {
			s.LeftOut = append(s.LeftOut, who)
		}
		return nil
	}, query, id)
	return s, err
}

// SetBudget changes how many informative answers a session wants; 0 is no limit. It
// returns an error of kind Invalid if that is out of range and of kind NotFound if
// there is no such session.
func (db *DB) SetBudget(ctx context.Context, id idrl.SessionID, budget int, actor string, now time.Time) error {
	if err := idrl.CheckBudget(budget); err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		var before int
		const query = `SELECT coalesce(budget, json_extract(spec, '$.Budget')) FROM session WHERE id = ?`
		if err := t.row(query, id).Scan(&before); err != nil {
			return missing(err, "there is no session %q", id)
		}
		if _, err := t.exec(`UPDATE session SET budget = ? WHERE id = ?`, budget, id); err != nil {
			return err
		}
		return t.changed(now, id, actor, "set budget", fmt.Sprintf("%d, was %d", budget, before))
	})
}

// Annotators returns who joined a session, in that order.
func (db *DB) Annotators(ctx context.Context, session idrl.SessionID) (out []idrl.Annotator, err error) {
	const query = `
		SELECT id, name, created_at, coalesce(invitation_id, 0), revoked_at, left_out, withdrawn_at, erased_at,
			(SELECT max(seen_at) FROM login WHERE login.session_id = annotator.session_id AND annotator_id = annotator.id)
		FROM annotator WHERE session_id = ? AND id <> '' ORDER BY created_at, length(id), id`
	err = each(ctx, db.read, func(row scanner) error {
		var a idrl.Annotator
		err := row.Scan(&a.ID, nameColumn{&a.Name}, timeColumn{&a.JoinedAt}, &a.Invitation, timeColumn{&a.RevokedAt}, &a.LeftOut,
			timeColumn{&a.WithdrawnAt}, timeColumn{&a.ErasedAt}, timeColumn{&a.SeenAt})
		out = append(out, a)
		return err
	}, query, session)
	return out, err
}

// Replies returns how many replies of each annotator of a session are not withdrawn,
// also of those who are left out.
func (db *DB) Replies(ctx context.Context, session idrl.SessionID) (map[idrl.AnnotatorID]int, error) {
	const query = `
		SELECT annotator_id, sum(CASE WHEN undoes IS NULL THEN 1 ELSE -1 END) FROM answer
		WHERE session_id = ? AND choice NOT IN ('left_out', 'taken_in', 'erased', 'withdrew') GROUP BY annotator_id`
	out := map[idrl.AnnotatorID]int{}
	err := each(ctx, db.read, func(row scanner) error {
		var who idrl.AnnotatorID
		var n int
		err := row.Scan(&who, &n)
		out[who] = n
		return err
	}, query, session)
	return out, err
}

// RevokeAnnotator ends a person's part in a session; leaveOut is as in SetLeftOut.
// One whose part has ended stays so. Errors as for SetLeftOut.
func (db *DB) RevokeAnnotator(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, leaveOut bool, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		const update = `UPDATE annotator SET revoked_at = coalesce(revoked_at, ?) WHERE session_id = ? AND id = ?`
		if err := t.annotator(session, who, update, encodeTime(now)); err != nil {
			return err
		}
		if err := t.changed(now, session, actor, "revoke annotator", string(who)); err != nil {
			return err
		}
		return t.setLeftOut(session, who, leaveOut, actor, now)
	})
}

// SetLeftOut says whether a person's answers shall be left out of the posterior and
// of exports. It returns an error of kind NotFound if there is no such annotator.
func (db *DB) SetLeftOut(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, out bool, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error { return t.setLeftOut(session, who, out, actor, now) })
}

func (t *tx) setLeftOut(session idrl.SessionID, who idrl.AnnotatorID, out bool, actor string, now time.Time) error {
	if err := t.annotator(session, who, `UPDATE annotator SET left_out = ? WHERE session_id = ? AND id = ?`, out); err != nil {
		return err
	}
	action := "count answers"
	if out {
		action = "leave answers out"
	}
	return t.changed(now, session, actor, action, string(who))
}

// annotator runs update, which sets one value, on an annotator.
func (t *tx) annotator(session idrl.SessionID, who idrl.AnnotatorID, update string, value any) error {
	n, err := t.exec(update, value, session, who)
	if err == nil && n == 0 {
		err = idrl.Errorf(idrl.NotFound, "session %s has no annotator %q", session, who)
	}
	return err
}
