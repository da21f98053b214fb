package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tiebreak/internal/idrl"
)

// PutSteps records raw steps for clips of the next generation, so that they need not all be in
// memory when it is adopted. It returns an error of kind NotFound if there is no such session.
func (db journal) PutSteps(ctx context.Context, id idrl.SessionID, all map[idrl.StepsID][]byte) error {
	return db.do(ctx, func(t *tx) error { return generationTx{t, id}.putSteps(all) })
}

// putSteps records raw steps unless they exist: their name is a hash of their content.
func (t generationTx) putSteps(all map[idrl.StepsID][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		const insert = `INSERT INTO steps (session_id, id, content) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
		if _, err := t.exec(insert, t.id, name, all[name]); err != nil {
			return dangling(err, "there is no session %q", t.id)
		}
	}
	return nil
}

// Steps returns the encoded raw steps with that name, which package steps decodes and
// checks. It returns an error of kind NotFound if there are none.
func (db journal) Steps(ctx context.Context, session idrl.SessionID, name idrl.StepsID) ([]byte, error) {
	var content []byte
	err := db.read.QueryRowContext(ctx, `SELECT content FROM steps WHERE session_id = ? AND id = ?`, session, name).Scan(&content)
	return content, missing(err, "session %s has no raw steps %q", session, name)
}

// AnsweredSteps calls yield with the names of the raw steps of all trajectories of answered clips,
// in the order of names, until it returns an error.
func (db journal) AnsweredSteps(ctx context.Context, session idrl.SessionID, yield func(idrl.StepsID) error) error {
	const query = `
		SELECT DISTINCT clip.steps_id FROM answer
		JOIN assignment ON assignment.session_id = answer.session_id AND assignment.id = answer.assignment_id
		JOIN query ON query.session_id = answer.session_id AND query.id = assignment.query_id AND query.clip_a = assignment.clip_a
		JOIN clip ON clip.session_id = answer.session_id AND (clip.id IN (query.clip_a, query.clip_b) OR clip.id IN (
			SELECT clip_id FROM group_clip
			WHERE group_clip.session_id = query.session_id AND group_clip.query_id = query.id AND group_clip.clip_a = query.clip_a))
		WHERE answer.session_id = ? AND clip.steps_id IS NOT NULL
		ORDER BY clip.steps_id`
	return db.snapshot(ctx, func(from querier) error {
		return each(ctx, from, func(row scanner) error {
			var name idrl.StepsID
			if err := row.Scan(&name); err != nil {
				return err
			}
			return yield(name)
		}, query, session)
	})
}

// eachSteps calls f with all raw steps, some in each read.
func eachSteps(ctx context.Context, from querier, f func(session idrl.SessionID, name idrl.StepsID, content []byte)) error {
	const query = `SELECT rowid, session_id, id, content FROM steps WHERE rowid > ? ORDER BY rowid LIMIT ?`
	for last, more := int64(0), true; more; {
		n := 0
		err := each(ctx, from, func(row scanner) error {
			var session idrl.SessionID
			var name idrl.StepsID
			var content []byte
			if err := row.Scan(&last, &session, &name, &content); err != nil {
				return err
			}
			n++
			f(session, name, content)
			return nil
		}, query, last, clipBatch)
		if err != nil {
			return fmt.Errorf("raw steps after row %d: %w", last, err)
		}
		more = n == clipBatch
	}
	return nil
}
