package store

import (
	"context"
	"database/sql"
	"errors"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Sessions returns every session, the newest first, with the numbers of its
// answers and the time of the last one, or that they are damaged.
func (db studies) Sessions(ctx context.Context) (out []record.Summary, err error) {
	err = db.snapshot(ctx, func(from querier) error {
		err := each(ctx, from, func(row scanner) error {
			var s record.Summary
			err := scanSpec(row, &s.Spec)
			out = append(out, s)
			return err
		}, `SELECT `+specColumns+` FROM session ORDER BY created_at DESC, id`)
		for i := range out {
			if err != nil {
				return err
			}
			if out[i].State, err = scanState(from.QueryRowContext(ctx, lastState, out[i].Spec.ID)); err != nil {
				return err
			}
			if err = count(ctx, from, &out[i]); idrl.KindOf(err) == idrl.Damaged { // the others can be read
				out[i].Paused, err = "its answers cannot be counted: "+err.Error(), nil
			}
		}
		return err
	})
	return out, err
}

// Parts of the number of answers of a session: of all, those that were withdrawn,
// and those of annotators who are left out. Each yields how many are informative
// and how many there are. CROSS JOIN keeps SQLite to the order that is written: from
// the few rows to the many.
const (
	counted = `SELECT coalesce(sum(answer.choice IN ('a', 'b', 'equal', 'rated', 'best_worst')), 0),
		coalesce(sum(answer.` + isReply + `), 0) FROM `
	countAll       = counted + `answer WHERE answer.session_id = ?`
	countWithdrawn = counted + `answer AS undo
		CROSS JOIN answer ON answer.session_id = undo.session_id AND answer.id = undo.undoes
		CROSS JOIN annotator ON annotator.session_id = answer.session_id AND annotator.id = answer.annotator_id
		WHERE undo.session_id = ? AND undo.undoes > '' AND NOT annotator.left_out`
	countLeftOut = counted + `annotator
		CROSS JOIN assignment ON assignment.session_id = annotator.session_id AND assignment.annotator_id = annotator.id
		CROSS JOIN answer ON answer.session_id = assignment.session_id AND answer.id = assignment.answer_id
		WHERE annotator.session_id = ? AND annotator.left_out`
)

// count sets the numbers of answers of a session, and the time of the last one.
func count(ctx context.Context, from querier, s *record.Summary) error {
	for _, part := range []struct {
		sign  int
		query string
	}{{1, countAll}, {-1, countWithdrawn}, {-1, countLeftOut}} {
		var answers, replies int
		if err := from.QueryRowContext(ctx, part.query, s.Spec.ID).Scan(&answers, &replies); err != nil {
			return convert(err)
		}
		s.Answers += part.sign * answers
		s.Skipped += part.sign * (replies - answers)
	}
	err := from.QueryRowContext(ctx, `SELECT received_at FROM answer WHERE session_id = ? ORDER BY seq DESC LIMIT 1`, s.Spec.ID).Scan(timeColumn{&s.Last})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return convert(err)
	}
	return nil
}
