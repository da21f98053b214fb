package store

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Course returns what a session knew after each of the first rows of its log.
func (db journal) Course(ctx context.Context, id idrl.SessionID, rows int) (out record.Course, err error) {
	err = db.snapshot(ctx, func(from querier) error {
		const means = `SELECT seq, representation, mean FROM posterior WHERE session_id = ? AND seq <= ? ORDER BY seq`
		err := each(ctx, from, func(row scanner) error {
			var s record.Snapshot
			err := row.Scan(&s.Seq, &s.Representation, vectorColumn{&s.Mean})
			out.Means = append(out.Means, s)
			return err
		}, means, id, rows)
		if err != nil {
			return err
		}
		if out.Pool, err = readPool(ctx, from, id); err != nil {
			return err
		}
		const policies = `
			SELECT adopted_at, based_on, policy.id, origin, mu, mus FROM policy JOIN generation USING (session_id, based_on)
			WHERE session_id = ? AND adopted_at <= ? ORDER BY adopted_at, based_on, k`
		last := int64(-1)
		return each(ctx, from, func(row scanner) error {
			var c idrl.Candidate
			var adopted, basedOn int64
			err := row.Scan(&adopted, &basedOn, &c.ID, &c.Origin, vectorColumn{&c.Mu}, rowsColumn{&c.Mus, &c.Mu})
			if basedOn != last {
				out.Adopted, last = append(out.Adopted, record.Adoption{Row: adopted}), basedOn
			}
			of := &out.Adopted[len(out.Adopted)-1]
			of.Candidates = append(of.Candidates, c)
			return err
		}, policies, id, rows)
	})
	return out, err
}
