package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// changesKey is the key in meta of the number of changes that a running server must notice.
const changesKey = "changes"

// Changes returns the number of changes that a running server must notice: to settings of sessions,
// and logins that ended. Another process may have made them.
func (db participants) Changes(ctx context.Context) (n int64, err error) {
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

// Settings implements record.Journal.
func (db participants) Settings(ctx context.Context, id idrl.SessionID) (s record.Settings, err error) {
	err = db.snapshot(ctx, func(from querier) (err error) {
		s, err = readSettings(ctx, from, id)
		return err
	})
	return s, err
}

func readSettings(ctx context.Context, from querier, id idrl.SessionID) (s record.Settings, err error) {
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
		SELECT id, revoked_at IS NOT NULL, left_out, turned FROM annotator
		WHERE session_id = ? AND (revoked_at IS NOT NULL OR left_out OR turned > 0) ORDER BY id`
	const withdrawn = `SELECT count(*) FROM annotator WHERE session_id = ? AND withdrawn_at IS NOT NULL`
	if err := from.QueryRowContext(ctx, withdrawn, id).Scan(&s.Withdrawals); err != nil {
		return s, convert(err)
	}
	err = each(ctx, from, func(row scanner) error {
		var who idrl.AnnotatorID
		var revoked, leftOut bool
		var turned int64
		if err := row.Scan(&who, &revoked, &leftOut, &turned); err != nil {
			return err
		}
		if revoked {
			s.Revoked = append(s.Revoked, who)
		}
		if leftOut {
			s.LeftOut = append(s.LeftOut, who)
		}
		if turned > 0 {
			if s.Turned == nil {
				s.Turned = map[idrl.AnnotatorID]int64{}
			}
			s.Turned[who] = turned
		}
		return nil
	}, query, id)
	return s, err
}

// SetBudget changes how many informative answers a session wants; 0 is no limit. It
// returns an error of kind Invalid if that is out of range and of kind NotFound if
// there is no such session.
func (db participants) SetBudget(ctx context.Context, id idrl.SessionID, budget int, actor string, now time.Time) error {
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
func (db participants) Annotators(ctx context.Context, session idrl.SessionID) (out []identity.Annotator, err error) {
	const query = `
		SELECT id, name, created_at, coalesce(invitation_id, 0), revoked_at, left_out, turned, withdrawn_at, erased_at,
			(SELECT max(seen_at) FROM login WHERE login.session_id = annotator.session_id AND annotator_id = annotator.id)
		FROM annotator WHERE session_id = ? AND id <> '' ORDER BY created_at, length(id), id`
	err = each(ctx, db.read, func(row scanner) error {
		var a identity.Annotator
		err := row.Scan(&a.ID, nameColumn{&a.Name}, timeColumn{&a.JoinedAt}, &a.Invitation, timeColumn{&a.RevokedAt}, &a.LeftOut, &a.Turned,
			timeColumn{&a.WithdrawnAt}, timeColumn{&a.ErasedAt}, timeColumn{&a.SeenAt})
		out = append(out, a)
		return err
	}, query, session)
	return out, err
}

// Replies returns how many replies of each annotator of a session are not withdrawn,
// also of those who are left out.
func (db participants) Replies(ctx context.Context, session idrl.SessionID) (map[idrl.AnnotatorID]int, error) {
	const query = `
		SELECT annotator_id, sum(CASE WHEN undoes IS NULL THEN 1 ELSE -1 END) FROM answer
		WHERE session_id = ? AND choice NOT IN (` + noReplies + `) GROUP BY annotator_id`
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

// RevokeAnnotator ends a person's part in a session. leaveOut leaves their answers out; otherwise
// they count (turned answers stay turned). Repeating it changes nothing. Errors as for
// DecideAnswers.
func (db participants) RevokeAnnotator(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, leaveOut bool, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		const update = `UPDATE annotator SET revoked_at = coalesce(revoked_at, ?) WHERE session_id = ? AND id = ?`
		if err := t.annotator(session, who, update, encodeTime(now)); err != nil {
			return err
		}
		if err := t.changed(now, session, actor, "revoke annotator", string(who)); err != nil {
			return err
		}
		var turned bool
		if err := t.row(`SELECT turned > 0 FROM annotator WHERE session_id = ? AND id = ?`, session, who).Scan(&turned); err != nil {
			return convert(err)
		}
		switch {
		case leaveOut:
			return t.decideAnswers(session, who, idrl.LeftOut, actor, now)
		case turned:
			return nil
		}
		return t.decideAnswers(session, who, idrl.TakenIn, actor, now)
	})
}

// DecideAnswers sets how a person's answers are to count, for the posterior and for exports:
// idrl.LeftOut, idrl.TakenIn, or idrl.Turned, which applies to the answers recorded now. It returns
// an error of kind NotFound if there is no such annotator, and of kind Invalid if there are no
// answers to turn, or for any other choice.
func (db participants) DecideAnswers(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, how idrl.Choice, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error { return t.decideAnswers(session, who, how, actor, now) })
}

func (t *tx) decideAnswers(session idrl.SessionID, who idrl.AnnotatorID, how idrl.Choice, actor string, now time.Time) error {
	update, action := `UPDATE annotator SET left_out = 0, turned = ? WHERE session_id = ? AND id = ?`, "count answers"
	var last int64
	switch how { //nolint:exhaustive // the others decide nothing
	case idrl.LeftOut:
		update, action = `UPDATE annotator SET left_out = 1, turned = ? WHERE session_id = ? AND id = ?`, "leave answers out"
	case idrl.Turned:
		action = "turn answers"
		const query = `SELECT coalesce(max(seq), 0) FROM answer WHERE session_id = ? AND EXISTS (
			SELECT 1 FROM answer AS own WHERE own.session_id = answer.session_id AND own.annotator_id = ? AND own.undoes IS NULL AND own.` + isReply + `)`
		if err := t.row(query, session, who).Scan(&last); err != nil {
			return convert(err)
		}
	case idrl.TakenIn:
	default:
		return idrl.Errorf(idrl.Invalid, "%q does not say how answers count", how)
	}
	if err := t.annotator(session, who, update, last); err != nil {
		return err
	}
	if how == idrl.Turned && last == 0 {
		return idrl.Errorf(idrl.Invalid, "annotator %s has given no answer yet that could be turned", who)
	}
	return t.changed(now, session, actor, action, string(who))
}

// noReplies are the choices of log rows that are not replies, as a list for SQL.
const noReplies = `'left_out', 'turned', 'taken_in', 'erased', 'withdrew'`

const isReply = `choice NOT IN ('', ` + noReplies + `)`

// turnedTo records that the log turns a person's answers up to row seq, if a researcher still wants
// that.
func (t *tx) turnedTo(session idrl.SessionID, who idrl.AnnotatorID, seq int64) error {
	_, err := t.exec(`UPDATE annotator SET turned = ? WHERE session_id = ? AND id = ? AND turned > 0`, seq, session, who)
	return err
}

// annotator runs update, which sets one value, on an annotator.
func (t *tx) annotator(session idrl.SessionID, who idrl.AnnotatorID, update string, value any) error {
	n, err := t.exec(update, value, session, who)
	if err == nil && n == 0 {
		err = idrl.Errorf(idrl.NotFound, "session %s has no annotator %q", session, who)
	}
	return err
}
