package store

import (
	"context"
	"errors"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

var errEnough = errors.New("enough")

// Follow calls yield with at most limit rows of the log after a row, by Seq, from one read of
// the database. It returns the error of yield, or one of kind NotFound if there is no such
// session.
func (db journal) Follow(ctx context.Context, id idrl.SessionID, after int64, limit int, yield func(record.LogRow) error) error {
	return db.Read(ctx, id, func(r *Reading) error {
		rows := make([]record.LogRow, 0, limit)
		err := r.Log(ctx, record.Part{After: after}, func(a idrl.Answer) error {
			if len(rows) == limit {
				return errEnough
			}
			rows = append(rows, record.LogRow{Answer: a})
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) || len(rows) == 0 {
			return err
		}
		k := 0
		err = r.Rows(ctx, record.Part{After: after}, func(l record.Labelled) error {
			for k < len(rows) && rows[k].Seq < l.Answer.Seq {
				k++
			}
			if k == len(rows) {
				return errEnough
			}
			if rows[k].Seq == l.Answer.Seq {
				rows[k].Reply = &l
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		for _, row := range rows {
			idrl.Pause(ctx) // yield may take as long as reading does
			if err := yield(row); err != nil {
				return err
			}
		}
		return nil
	})
}
