package store

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Course returns what a session has known in the course of its log.
func (db journal) Course(ctx context.Context, id idrl.SessionID) (out record.Course, err error) {
	err = db.snapshot(ctx, func(from querier) error {
		const means = `SELECT seq, representation, mean FROM posterior WHERE session_id = ? ORDER BY seq`
		err := each(ctx, from, func(row scanner) error {
			var s record.Snapshot
			err := row.Scan(&s.Seq, &s.Representation, vectorColumn{&s.Mean})
			out.Means = append(out.Means, s)
			return err
		}, means, id)
		if err != nil {
			return err
		}
		pool, err := readPool(ctx, from, id)
		if err != nil {
			return err
		}
		for _, c := range pool {
			out.Policies = append(out.Policies, record.KnownFrom{Candidate: c})
		}
		const policies = `
			SELECT adopted_at, policy.id, mu, mus FROM policy JOIN generation USING (session_id, based_on)
			WHERE session_id = ? ORDER BY adopted_at, based_on, k`
		return each(ctx, from, func(row scanner) error {
			var k record.KnownFrom
			err := row.Scan(&k.Row, &k.ID, vectorColumn{&k.Mu}, rowsColumn{&k.Mus, &k.Mu})
			out.Policies = append(out.Policies, k)
			return err
		}, policies, id)
	})
	return out, err
}
