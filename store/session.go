package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"tiebreak/internal/idrl"
)

// CreateSession records a new session. It returns an error of kind Invalid if
// spec.ID is empty and of kind Conflict if it is taken.
func (db studies) CreateSession(ctx context.Context, spec idrl.SessionSpec) error {
	return db.CreateSessionOf(ctx, spec, "")
}

// CreateSessionOf is CreateSession of an account, which owns the session; empty for none.
func (db studies) CreateSessionOf(ctx context.Context, spec idrl.SessionSpec, owner string) error {
	return db.create(ctx, spec, owner, func(*tx) error { return nil })
}

// create is CreateSession by an actor, with further work in the same transaction. If the actor is an
// account it owns the session.
func (db studies) create(ctx context.Context, spec idrl.SessionSpec, actor string, more func(*tx) error) error {
	if spec.ID == "" {
		return idrl.Errorf(idrl.Invalid, "a session needs an id")
	}
	if err := checkTime(spec.CreatedAt); err != nil {
		return err
	}
	b, err := json.Marshal(spec)
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "the settings of session %s cannot be recorded: %v", spec.ID, err)
	}
	return db.doPatiently(ctx, func(t *tx) error {
		const insert = `INSERT INTO session (id, created_at, spec) VALUES (?, ?, ?)`
		if _, err := t.exec(insert, spec.ID, encodeTime(spec.CreatedAt), string(b)); err != nil {
			return taken(err, "session %s exists already", spec.ID)
		}
		if actor != "" {
			if _, err := t.exec(`INSERT INTO share SELECT ?, id, 'own' FROM user WHERE id = ?`, spec.ID, actor); err != nil {
				return err
			}
		}
		if err := t.audit(time.Now(), spec.ID, actor, "create session", string(spec.ID)); err != nil {
			return err
		}
		return more(t)
	})
}

// Spec returns the settings of a session, or an error of kind NotFound.
func (db studies) Spec(ctx context.Context, id idrl.SessionID) (idrl.SessionSpec, error) {
	return readSpec(ctx, db.read, id)
}

func readSpec(ctx context.Context, from querier, id idrl.SessionID) (spec idrl.SessionSpec, err error) {
	row := from.QueryRowContext(ctx, `SELECT `+specColumns+` FROM session WHERE id = ?`, id)
	return spec, missing(scanSpec(row, &spec), "there is no session %q", id)
}

// specColumns are the columns that scanSpec scans.
const specColumns = `session.spec, session.budget, session.gold_every,
	(SELECT title FROM control WHERE session_id = session.id ORDER BY n DESC LIMIT 1),
	(SELECT json_array(version, format, text) FROM instructions WHERE session_id = session.id ORDER BY version DESC LIMIT 1),
	(SELECT json_array(version, text) FROM consent WHERE session_id = session.id ORDER BY version DESC LIMIT 1)`

func scanSpec(row scanner, spec *idrl.SessionSpec) error {
	var budget, gold sql.NullInt64
	var title, told, consent sql.NullString
	if err := row.Scan(specColumn{spec}, &budget, &gold, &title, &told, &consent); err != nil {
		return err
	}
	if title.Valid {
		spec.Title = title.String
	}
	if budget.Valid {
		spec.Budget = int(budget.Int64)
	}
	if gold.Valid {
		spec.GoldEvery = int(gold.Int64)
	}
	if consent.Valid {
		if err := json.Unmarshal([]byte(consent.String), &[]any{&spec.ConsentVersion, &spec.Consent}); err != nil {
			return err
		}
	} else {
		spec.ConsentVersion = spec.CurrentConsent().Version
	}
	if told.Valid {
		return json.Unmarshal([]byte(told.String), &[]any{&spec.InstructionsVersion, &spec.InstructionsFormat, &spec.Instructions})
	}
	return nil
}

// A specColumn scans the JSON of a SessionSpec.
type specColumn struct{ dst *idrl.SessionSpec }

func (c specColumn) Scan(src any) error {
	s, ok := src.(string)
	if !ok {
		return fmt.Errorf("the settings of a session are %T, want text", src)
	}
	*c.dst = idrl.RecordedEarlier()
	return json.Unmarshal([]byte(s), c.dst)
}

// CreateAnnotator adds an annotator to a session and returns a pseudonym that is unique within it:
// a1, a2, … The name, which may be empty, is the one that they gave. It returns an error of kind
// NotFound if there is no such session, and record.ErrEnded if it has ended.
func (db studies) CreateAnnotator(ctx context.Context, session idrl.SessionID, name string) (id idrl.AnnotatorID, err error) {
	err = db.do(ctx, func(t *tx) (err error) {
		id, err = t.createAnnotator(session, name, time.Now())
		return err
	})
	return id, err
}

func (t *tx) createAnnotator(session idrl.SessionID, name string, now time.Time) (idrl.AnnotatorID, error) {
	var n int64
	const count = `SELECT (SELECT count(*) FROM annotator WHERE session_id = session.id AND id <> '') FROM session WHERE id = ?`
	if err := t.row(count, session).Scan(&n); err != nil {
		return "", missing(err, "there is no session %q", session)
	}
	if err := t.checkJoinable(session); err != nil {
		return "", err
	}
	id := idrl.AnnotatorID(fmt.Sprintf("a%d", n+1))
	const insert = `INSERT INTO annotator (session_id, id, name, created_at) VALUES (?, ?, ?, ?)`
	if _, err := t.exec(insert, session, id, name, encodeTime(now)); err != nil {
		return "", err
	}
	return id, t.audit(now, session, string(id), "join session", string(id))
}

// AnnotatorNames returns the names that the annotators of a session gave, empty if they gave none.
func (db studies) AnnotatorNames(ctx context.Context, session idrl.SessionID) (map[idrl.AnnotatorID]string, error) {
	names := map[idrl.AnnotatorID]string{}
	err := each(ctx, db.read, func(row scanner) error {
		var id idrl.AnnotatorID
		var name string
		err := row.Scan(&id, nameColumn{&name})
		names[id] = name
		return err
	}, `SELECT id, name FROM annotator WHERE session_id = ? AND id <> ''`, session)
	return names, err
}
