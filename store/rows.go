package store

import (
	"context"

	"tiebreak/internal/idrl"
)

// Rows calls yield with every answer of a session, in the order of the log:
// the answer, its query, the clips it showed without their media, why it was
// asked, and whether it was withdrawn later. Withdrawals have no row of their
// own. It reads one moment's state, a row at a time, and stops at the first
// error of yield, which it returns. yield owns what it is given.
func (db *DB) Rows(ctx context.Context, session idrl.SessionID,
	yield func(a idrl.Answer, q idrl.Query, clips []idrl.Clip, why idrl.Why, undone bool) error,
) error {
	const query = `
		SELECT ` + answerColumns + `, ` + queryColumns + `, ` + whyColumns + `,
			EXISTS (SELECT 1 FROM answer AS later WHERE later.session_id = answer.session_id AND later.undoes = answer.id),
			a.trajectory_id, a.start, a.steps, a.phi,
			b.trajectory_id, coalesce(b.start, 0), coalesce(b.steps, 0), b.phi
		FROM answer
		JOIN assignment ON assignment.session_id = answer.session_id AND assignment.id = answer.assignment_id
		JOIN query ON query.session_id = answer.session_id AND query.id = assignment.query_id AND query.clip_a = assignment.clip_a
		JOIN clip AS a ON a.session_id = answer.session_id AND a.id = query.clip_a
		LEFT JOIN clip AS b ON b.session_id = answer.session_id AND b.id = query.clip_b
		WHERE answer.session_id = ? AND answer.undoes IS NULL
		ORDER BY answer.seq`
	return db.snapshot(ctx, func(from querier) error {
		if _, err := readSpec(ctx, from, session); err != nil {
			return err
		}
		return each(ctx, from, func(row scanner) error {
			var a idrl.Answer
			var q idrl.Query
			var why idrl.Why
			var undone bool
			var ids [2]idrl.ClipID
			clips := make([]idrl.Clip, 2)
			dst := append(answerTargets(&a), queryTargets(&q, &ids)...)
			dst = append(append(dst, whyTargets(&why)...), &undone)
			for i := range clips {
				c := &clips[i]
				dst = append(dst, text(&c.From), &c.Start, &c.Steps, vectorColumn{&c.Phi})
			}
			if err := row.Scan(dst...); err != nil {
				return err
			}
			setClips(&q, ids)
			for i := range q.Clips {
				clips[i].ID = q.Clips[i]
			}
			return yield(a, q, clips[:len(q.Clips)], why, undone)
		}, query, session)
	})
}
