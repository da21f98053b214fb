package store

import (
	"context"
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// maxPracticeAnswers limits the recorded practice answers of one annotator.
const maxPracticeAnswers = 200

// Practice returns the practice questions of a session, by their versions, and those that an
// annotator must answer before the first question: the unanswered ones, unless they have answered
// another question. It returns an error of kind NotFound if there is no such annotator.
func (db participants) Practice(ctx context.Context, id idrl.SessionID, who idrl.AnnotatorID) (all []record.Known, due []int64, err error) {
	err = db.snapshot(ctx, func(from querier) error {
		var working bool
		const began = `SELECT EXISTS (SELECT 1 FROM answer WHERE session_id = ?1 AND annotator_id = ?2) FROM annotator WHERE session_id = ?1 AND id = ?2`
		if err := from.QueryRowContext(ctx, began, id, who).Scan(&working); err != nil {
			return missing(err, "session %s has no annotator %q", id, who)
		}
		if all, err = readKnown(ctx, from, id); err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(k record.Known) bool { return k.Use != record.ForPractice })
		done := map[idrl.QueryID]bool{}
		err := each(ctx, from, func(row scanner) error {
			var q idrl.QueryID
			err := row.Scan(&q)
			done[q] = true
			return err
		}, `SELECT known.query_id FROM practice JOIN known USING (session_id, version) WHERE session_id = ? AND annotator_id = ?`, id, who)
		for _, k := range all {
			if !working && !done[k.Query.ID] {
				due = append(due, k.Version)
			}
		}
		return err
	})
	return all, due, err
}

// AddPractice records an answer to a practice question; p.Answer.Left says which clip was on the
// left. The same id again changes nothing. It returns an error of kind Invalid if the answer does
// not fit the question, of kind NotFound if there is no such practice question or annotator, and of
// kind Conflict if the annotator has practised too often.
func (db participants) AddPractice(ctx context.Context, id idrl.SessionID, p record.Practice) error {
	a := p.Answer
	if err := checkTime(a.ShownAt); err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		k := record.Known{Version: p.Version}
		var clips clipColumns
		const known = `SELECT ` + knownColumns + knownRows + `WHERE known.session_id = ? AND known.version = ? AND known.use = 'practice'`
		if err := t.row(known, id, p.Version).Scan(knownTargets(&k, &clips)...); err != nil {
			return missing(err, "session %s has no practice question %d", id, p.Version)
		}
		setClips(&k.Query, clips)
		a.ID, a.Query, a.Undoes = p.ID, k.Query.ID, ""
		if err := a.Validate(k.Query); err != nil {
			return err
		}
		var had int
		const count = `SELECT count(*) FROM practice WHERE session_id = ? AND annotator_id = ? AND id <> ?`
		if err := t.row(count, id, p.Annotator, p.ID).Scan(&had); err != nil {
			return convert(err)
		}
		if had >= maxPracticeAnswers {
			return idrl.Errorf(idrl.Conflict, "you have practised %d times; go on with the questions", had)
		}
		const insert = `
			INSERT INTO practice (session_id, id, annotator_id, version, choice, rating, reason, left_side, shown_at, received_at,
				response_ms, hidden_ms, loops, input)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
		_, err := t.exec(insert, id, p.ID, p.Annotator, p.Version, a.Choice, a.Rating, a.Reason, a.Left, encodeTime(a.ShownAt), encodeTime(p.ReceivedAt),
			a.ResponseMS, a.HiddenMS, a.Loops, a.Input)
		return dangling(err, "session %s has no annotator %q", id, p.Annotator)
	})
}

// PracticeAnswers yields the answers to practice questions of a session in the order in
// which they came, each with the question as it was then, until yield returns an error,
// which it returns.
func (db participants) PracticeAnswers(ctx context.Context, id idrl.SessionID, yield func(record.Practice, record.Known) error) error {
	return db.snapshot(ctx, func(from querier) error {
		if _, err := readSpec(ctx, from, id); err != nil {
			return err
		}
		return practiceAnswers(ctx, from, id, yield)
	})
}

func practiceAnswers(ctx context.Context, from querier, id idrl.SessionID, yield func(record.Practice, record.Known) error) error {
	const query = `SELECT practice.id, annotator_id, version, practice.choice, practice.rating, reason, left_side, shown_at, received_at,
			response_ms, hidden_ms, loops, input, ` + knownColumns + `
		FROM practice JOIN known USING (session_id, version)
		JOIN query ON query.session_id = known.session_id AND query.id = known.query_id AND query.clip_a = known.clip_a
		WHERE practice.session_id = ? ORDER BY practice.received_at, practice.rowid`
	return each(ctx, from, func(row scanner) error {
		var p record.Practice
		var k record.Known
		var clips clipColumns
		a := &p.Answer
		dst := append([]any{
			&p.ID, &p.Annotator, &p.Version, &a.Choice, &a.Rating, &a.Reason, &a.Left,
			timeColumn{&a.ShownAt},
			timeColumn{&p.ReceivedAt},
			&a.ResponseMS, &a.HiddenMS, &a.Loops, &a.Input,
		}, knownTargets(&k, &clips)...)
		if err := row.Scan(dst...); err != nil {
			return err
		}
		setClips(&k.Query, clips)
		a.ID, a.Annotator, a.Query = p.ID, p.Annotator, k.Query.ID
		p.Right, p.Judged = k.Right(k.Query, *a)
		return yield(p, k)
	}, query, id)
}
