package store

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// NoteTraining implements record.Journal.
func (db journal) NoteTraining(ctx context.Context, id idrl.SessionID, p record.PastTraining) error {
	return db.do(ctx, func(t *tx) error { return generationTx{t, id}.putTraining(p) })
}

// putTraining adds a training to those of the past.
func (t generationTx) putTraining(p record.PastTraining) error {
	const insert = `
		INSERT INTO training (session_id, n, based_on, answers, follow_up, began_at, ended_at, outcome, candidates, why)
		VALUES (?1, (SELECT coalesce(max(n), 0) + 1 FROM training WHERE session_id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`
	_, err := t.exec(insert, t.id, p.BasedOn, p.Answers, p.FollowUp, encodeTime(p.Began), encodeTime(p.Ended), p.End, p.Candidates, p.Why)
	return dangling(err, "there is no session %q", t.id)
}

// Trainings implements record.Journal.
func (db journal) Trainings(ctx context.Context, id idrl.SessionID, most int) (out []record.PastTraining, err error) {
	if most <= 0 {
		most = -1 // no limit
	}
	const query = `
		SELECT n, based_on, answers, follow_up, began_at, ended_at, outcome, candidates, why FROM training
		WHERE session_id = ? ORDER BY n DESC LIMIT ?`
	err = each(ctx, db.read, func(row scanner) error {
		var p record.PastTraining
		err := row.Scan(&p.N, &p.BasedOn, &p.Answers, &p.FollowUp, timeColumn{&p.Began}, timeColumn{&p.Ended}, &p.End, &p.Candidates, &p.Why)
		out = append(out, p)
		return err
	}, query, id, most)
	return out, err
}
