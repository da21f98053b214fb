package store

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Rows calls yield with every reply of a session, in the order of the log. Rows that withdraw
// replies, and rows that decide how replies count, are not replies. It reads the state of one
// moment, a row at a time, and stops at the first error of yield, which it returns. yield owns its
// argument.
func (db journal) Rows(ctx context.Context, session idrl.SessionID, yield func(record.Labelled) error) error {
	return db.snapshot(ctx, func(from querier) error {
		spec, err := readSpec(ctx, from, session)
		if err != nil {
			return err
		}
		return readRows(ctx, from, spec, 0, yield)
	})
}

// readRows calls yield with the replies after a row of the log.
func readRows(ctx context.Context, from querier, spec idrl.SessionSpec, after int64, yield func(record.Labelled) error) error {
	const query = `
		SELECT ` + answerColumns + `, ` + queryColumns + `, ` + whyColumns + `,
			EXISTS (SELECT 1 FROM answer AS later WHERE later.session_id = answer.session_id AND later.undoes = answer.id),
			annotator.left_out, answer.seq <= annotator.turned, assignment.gold > 0, assignment.condition,
			a.trajectory_id, a.start, a.steps, a.phi, a.steps_id,
			b.trajectory_id, coalesce(b.start, 0), coalesce(b.steps, 0), b.phi, b.steps_id
		FROM answer
		JOIN annotator ON annotator.session_id = answer.session_id AND annotator.id = answer.annotator_id
		JOIN assignment ON assignment.session_id = answer.session_id AND assignment.id = answer.assignment_id
		JOIN query ON query.session_id = answer.session_id AND query.id = assignment.query_id AND query.clip_a = assignment.clip_a
		JOIN clip AS a ON a.session_id = answer.session_id AND a.id = query.clip_a
		LEFT JOIN clip AS b ON b.session_id = answer.session_id AND b.id = query.clip_b
		WHERE answer.session_id = ? AND answer.seq > ? AND answer.undoes IS NULL
		ORDER BY answer.seq`
	gold, err := readGold(ctx, from, spec)
	if err != nil {
		return err
	}
	known := map[idrl.QueryID]record.Known{}
	for _, k := range gold.Questions {
		known[k.Query.ID] = k
	}
	var asked map[idrl.ClipID]idrl.Clip
	if spec.Kind.Group() {
		if asked, err = askedClips(ctx, from, spec.ID); err != nil {
			return err
		}
	}
	var r record.Labelled // of a row; the data that it refers to are new in each
	var ids clipColumns
	var pair [2]idrl.Clip
	dst := append(answerTargets(&r.Answer), queryTargets(&r.Query, &ids)...)
	dst = append(append(dst, whyTargets(&r.Why)...), &r.Withdrawn, &r.LeftOut, &r.Turned, &r.Gold, &r.Condition)
	for i := range pair {
		c := &pair[i]
		dst = append(dst, text(&c.From), &c.Start, &c.Steps, vectorColumn{&c.Phi}, text(&c.Raw))
	}
	return each(ctx, from, func(row scanner) error {
		if err := row.Scan(dst...); err != nil {
			return err
		}
		setClips(&r.Query, ids)
		clips := append(make([]idrl.Clip, 0, max(len(pair), len(r.Query.Clips))), pair[:]...)
		for i, id := range r.Query.Clips {
			if i >= len(clips) {
				clips = append(clips, asked[id])
			}
			clips[i].ID = id
		}
		r.Clips = clips[:len(r.Query.Clips)]
		r.GoldRight, r.GoldKnown = false, false
		if r.Gold {
			r.GoldRight, r.GoldKnown = known[r.Query.ID].Right(r.Query, r.Answer)
		}
		return yield(r)
	}, query, spec.ID, after)
}
