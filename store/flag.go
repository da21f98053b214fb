package store

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// AddFlag records a note of an annotator about a question; f.Query is ignored. The same id again
// changes nothing. It returns an error of kind Invalid if f is not valid, of kind NotFound if the
// annotator was not given that question, and of kind Conflict if they have sent too many.
func (db participants) AddFlag(ctx context.Context, id idrl.SessionID, f record.Flag) error {
	if err := f.Validate(); err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		var asked bool
		const find = `SELECT EXISTS (SELECT 1 FROM assignment WHERE session_id = ? AND id = ? AND annotator_id = ?)`
		if err := t.row(find, id, f.Assignment, f.Annotator).Scan(&asked); err != nil {
			return convert(err)
		}
		if !asked {
			return idrl.Errorf(idrl.NotFound, "you have no question %q", f.Assignment)
		}
		var had int
		const count = `SELECT count(*) FROM flag WHERE session_id = ? AND annotator_id = ? AND id <> ?`
		if err := t.row(count, id, f.Annotator, f.ID).Scan(&had); err != nil {
			return convert(err)
		}
		if had >= record.MaxFlags {
			return idrl.Errorf(idrl.Conflict, "you have flagged %d questions, which is the limit; write to the person who runs the study instead", had)
		}
		const insert = `INSERT INTO flag (session_id, id, annotator_id, assignment_id, note, received_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
		_, err := t.exec(insert, id, f.ID, f.Annotator, f.Assignment, f.Note, encodeTime(f.At))
		return dangling(err, "session %s has no annotator %q", id, f.Annotator)
	})
}

// Flags returns the notes of annotators about the questions of a session, in the order in which
// they came.
func (db participants) Flags(ctx context.Context, id idrl.SessionID) (out []record.Flag, err error) {
	err = db.snapshot(ctx, func(from querier) error {
		if _, err := readSpec(ctx, from, id); err != nil {
			return err
		}
		out, err = readFlags(ctx, from, id)
		return err
	})
	return out, err
}

func readFlags(ctx context.Context, from querier, id idrl.SessionID) (out []record.Flag, err error) {
	const query = `SELECT flag.id, flag.annotator_id, assignment_id, query_id, note, received_at
		FROM flag JOIN assignment ON assignment.session_id = flag.session_id AND assignment.id = assignment_id
		WHERE flag.session_id = ? ORDER BY received_at, flag.rowid`
	err = each(ctx, from, func(row scanner) error {
		var f record.Flag
		err := row.Scan(&f.ID, &f.Annotator, &f.Assignment, &f.Query, &f.Note, timeColumn{&f.At})
		out = append(out, f)
		return err
	}, query, id)
	return out, err
}
