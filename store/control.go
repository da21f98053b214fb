package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Control applies an action of a researcher to a session as a whole (record.ActPause and similar) and
// returns the state before and after it. If they are equal it records nothing. Errors are those of
// record.StateAfter, and of kind NotFound if there is no such session.
func (db studies) Control(ctx context.Context, id idrl.SessionID, action, actor string, now time.Time) (before, after record.SessionState, err error) {
	err = db.do(ctx, func(t *tx) error {
		is, err := t.current(id)
		if err != nil {
			return err
		}
		before = is.State
		if after, err = record.StateAfter(before, action); err != nil || after == before {
			return err
		}
		return t.putControl(id, record.Control{At: now, Actor: actor, Action: action, State: after, Title: is.Title})
	})
	return before, after, err
}

// Rename changes the title of a session. It returns an error of kind Invalid if it cannot
// be one, and of kind NotFound if there is no such session.
func (db studies) Rename(ctx context.Context, id idrl.SessionID, title, actor string, now time.Time) error {
	if err := idrl.CheckTitle(title); err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		is, err := t.current(id)
		if err != nil || is.Title == title {
			return err
		}
		return t.putControl(id, record.Control{At: now, Actor: actor, Action: record.ActRename, State: is.State, Title: title})
	})
}

// current returns the state and the title of a session.
func (t *tx) current(id idrl.SessionID) (record.Control, error) {
	spec, err := t.spec(id)
	if err != nil {
		return record.Control{}, err
	}
	state, err := t.state(id)
	return record.Control{State: state, Title: spec.Title}, err
}

// state returns the state of a session that exists.
func (t *tx) state(id idrl.SessionID) (record.SessionState, error) {
	return scanState(t.row(lastState, id))
}

const lastState = `SELECT state FROM control WHERE session_id = ? ORDER BY n DESC LIMIT 1`

func scanState(row scanner) (state record.SessionState, err error) {
	err = row.Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return record.StateRunning, nil
	}
	return state, convert(err)
}

func (t *tx) putControl(id idrl.SessionID, c record.Control) error {
	if err := checkTime(c.At); err != nil {
		return err
	}
	const insert = `
		INSERT INTO control (session_id, n, at, actor, action, state, title)
		SELECT ?, 1 + coalesce(max(n), 0), ?, ?, ?, ?, ? FROM control WHERE session_id = ?`
	if _, err := t.exec(insert, id, encodeTime(c.At), c.Actor, c.Action, c.State, c.Title, id); err != nil {
		return err
	}
	return t.changed(c.At, id, c.Actor, c.Action, fmt.Sprintf("%s: %s", c.State, c.Title))
}

// Audit records an act of actor upon a session that no other method records. It returns an error of
// kind NotFound if there is no such session.
func (db studies) Audit(ctx context.Context, id idrl.SessionID, actor, action, object string, now time.Time) error {
	if err := checkTime(now); err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		if _, err := t.current(id); err != nil {
			return err
		}
		return t.audit(now, id, actor, action, object)
	})
}

// Controls returns what researchers did to a session as a whole, the first act first.
func (db studies) Controls(ctx context.Context, id idrl.SessionID) (out []record.Control, err error) {
	err = each(ctx, db.read, func(row scanner) error {
		var c record.Control
		err := row.Scan(timeColumn{&c.At}, &c.Actor, &c.Action, &c.State, &c.Title)
		out = append(out, c)
		return err
	}, `SELECT at, actor, action, state, title FROM control WHERE session_id = ? ORDER BY n`, id)
	return out, err
}

// Acts returns the last acts of researchers in the audit trail that are not in Controls, the last
// one first, and no more than limit.
func (db studies) Acts(ctx context.Context, id idrl.SessionID, limit int) (out []record.Act, err error) {
	const query = `
		SELECT at, actor, action, object FROM audit
		WHERE session_id = ? AND action NOT IN ('answer', 'withdraw') AND action IN (SELECT value FROM json_each(?))
		ORDER BY id DESC LIMIT ?`
	actions, err := json.Marshal(record.Acts())
	if err != nil {
		return nil, err
	}
	err = each(ctx, db.read, func(row scanner) error {
		var a record.Act
		err := row.Scan(timeColumn{&a.At}, &a.Actor, &a.Action, &a.Object)
		out = append(out, a)
		return err
	}, query, id, string(actions), limit)
	return out, err
}

// CloneSession records a new session (as CreateSession) as a copy of another one, with its
// pictures. The settings may differ.
func (db studies) CloneSession(ctx context.Context, spec idrl.SessionSpec, of idrl.SessionID, actor string) error {
	return db.create(ctx, spec, actor, func(t *tx) error {
		const pictures = `
			INSERT INTO picture (session_id, id, type, content, created_at)
			SELECT ?, id, type, content, created_at FROM picture WHERE session_id = ?`
		_, err := t.exec(pictures, spec.ID, of)
		return err
	})
}

// checkJoinable returns an error of kind Conflict, in words for people, if the session has ended,
// so that no one can join.
func (t *tx) checkJoinable(id idrl.SessionID) error {
	state, err := t.state(id)
	if err == nil && state.Ended() {
		err = record.ErrEnded
	}
	return err
}
