package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// AcknowledgeInstructions records that an annotator has read a version of the session's
// instructions; an earlier version than the recorded one changes nothing. It returns an error of
// kind Invalid if there is no such version and of kind NotFound if there is no such annotator.
func (db studies) AcknowledgeInstructions(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, version int64) error {
	return db.do(ctx, func(t *tx) error {
		spec, err := t.spec(session)
		if err != nil {
			return err
		}
		if latest := spec.CurrentInstructions().Version; version < 1 || version > latest {
			return idrl.Errorf(idrl.Invalid, "the instructions of session %s have no version %d; the latest is %d", session, version, latest)
		}
		return t.annotator(session, who, `UPDATE annotator SET acknowledged = max(acknowledged, ?) WHERE session_id = ? AND id = ?`, version)
	})
}

// AcknowledgedInstructions returns the latest version of the session's instructions that
// an annotator has acknowledged, 0 if none.
func (db studies) AcknowledgedInstructions(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID) (version int64, err error) {
	const query = `SELECT acknowledged FROM annotator WHERE session_id = ? AND id = ?`
	err = db.read.QueryRowContext(ctx, query, session, who).Scan(&version)
	return version, missing(err, "session %s has no annotator %q", session, who)
}

// SetInstructions changes the instructions of a session and returns the version that is in use
// then: a new one, unless nothing changes. It returns an error of kind Invalid if they are too long
// and of kind NotFound if there is no such session.
func (db studies) SetInstructions(ctx context.Context, id idrl.SessionID, format, text, actor string, now time.Time) (version int64, err error) {
	if err := (idrl.Instructions{Format: format, Text: text}).Check(); err != nil {
		return 0, err
	}
	err = db.do(ctx, func(t *tx) error {
		spec, err := t.spec(id)
		if err != nil {
			return err
		}
		is := spec.CurrentInstructions()
		version = is.Version
		if is.Format == format && is.Text == text {
			return nil
		}
		version++
		const insert = `INSERT INTO instructions (session_id, version, format, text, created_at) VALUES (?, ?, ?, ?, ?)`
		if _, err := t.exec(insert, id, version, format, text, encodeTime(now)); err != nil {
			return err
		}
		return t.changed(now, id, actor, "set instructions", fmt.Sprintf("version %d", version))
	})
	return version, err
}

// InstructionVersions returns all instructions that a session has had, the first one first.
func (db studies) InstructionVersions(ctx context.Context, id idrl.SessionID) (out []idrl.Instructions, err error) {
	err = db.snapshot(ctx, func(from querier) error {
		out, err = instructionVersions(ctx, from, id)
		return err
	})
	return out, err
}

func instructionVersions(ctx context.Context, from querier, id idrl.SessionID) (out []idrl.Instructions, err error) {
	var first idrl.SessionSpec
	row := from.QueryRowContext(ctx, `SELECT spec FROM session WHERE id = ?`, id)
	if err := row.Scan(specColumn{&first}); err != nil {
		return nil, missing(err, "there is no session %q", id)
	}
	out = append(out, first.CurrentInstructions())
	err = each(ctx, from, func(row scanner) error {
		var i idrl.Instructions
		err := row.Scan(&i.Version, &i.Format, &i.Text)
		out = append(out, i)
		return err
	}, `SELECT version, format, text FROM instructions WHERE session_id = ? ORDER BY version`, id)
	return out, err
}

func (t *tx) spec(id idrl.SessionID) (spec idrl.SessionSpec, err error) {
	err = scanSpec(t.row(`SELECT `+specColumns+` FROM session WHERE id = ?`, id), &spec)
	return spec, missing(err, "there is no session %q", id)
}

// AddPicture adds a picture to a session; an existing one changes nothing. It returns an error of
// kind Conflict if the session has record.MaxPictures others and of kind NotFound if there is no such
// session.
func (db studies) AddPicture(ctx context.Context, id idrl.SessionID, p record.Picture, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		var others int
		const count = `SELECT (SELECT count(*) FROM picture WHERE session_id = session.id AND id <> ?) FROM session WHERE id = ?`
		if err := t.row(count, p.ID, id).Scan(&others); err != nil {
			return missing(err, "there is no session %q", id)
		}
		if others >= record.MaxPictures {
			return idrl.Errorf(idrl.Conflict, "a session may have %d pictures; remove one first", record.MaxPictures)
		}
		const insert = `INSERT INTO picture (session_id, id, type, content, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
		if _, err := t.exec(insert, id, p.ID, p.Type, p.Content, encodeTime(now)); err != nil {
			return err
		}
		return t.audit(now, id, actor, "add picture", string(p.ID))
	})
}

// RemovePicture removes a picture. It returns an error of kind Conflict if the instructions in use
// show it and of kind NotFound if there is no such picture.
func (db studies) RemovePicture(ctx context.Context, id idrl.SessionID, picture record.PictureID, actor string, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		spec, err := t.spec(id)
		if err != nil {
			return err
		}
		if strings.Contains(spec.Instructions, string(picture)) {
			return idrl.Errorf(idrl.Conflict, "the instructions show this picture; take it out of them first")
		}
		n, err := t.exec(`DELETE FROM picture WHERE session_id = ? AND id = ?`, id, picture)
		if err != nil || n == 0 {
			return missing(cmp.Or(err, sql.ErrNoRows), "session %s has no picture %q", id, picture)
		}
		return t.audit(now, id, actor, "remove picture", string(picture))
	})
}

// Picture returns a picture of a session, or an error of kind NotFound.
func (db studies) Picture(ctx context.Context, id idrl.SessionID, picture record.PictureID) (record.Picture, error) {
	p := record.Picture{ID: picture}
	const query = `SELECT type, content FROM picture WHERE session_id = ? AND id = ?`
	err := db.read.QueryRowContext(ctx, query, id, picture).Scan(&p.Type, &p.Content)
	return p, missing(err, "session %s has no picture %q", id, picture)
}

// Pictures returns the pictures of a session in the order in which they came, without their
// content.
func (db studies) Pictures(ctx context.Context, id idrl.SessionID) (out []record.Picture, err error) {
	err = each(ctx, db.read, func(row scanner) error {
		var p record.Picture
		err := row.Scan(&p.ID, &p.Type)
		out = append(out, p)
		return err
	}, `SELECT id, type FROM picture WHERE session_id = ? ORDER BY created_at, id`, id)
	return out, err
}
