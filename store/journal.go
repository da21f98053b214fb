package store

import (
	"context"
	"math"
	"slices"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Append implements record.Journal. Besides the errors it names there, and those of
// Issue, the error is of kind NotFound if the session, an assignment or a withdrawn
// answer does not exist, Forbidden if an assignment is somebody else's, and Conflict
// if a Seq does not follow the row before.
func (db journal) Append(ctx context.Context, id idrl.SessionID, rows ...record.Row) error {
	for _, row := range rows {
		a := row.Answer
		for _, t := range []time.Time{a.ShownAt, a.AnsweredAt, a.ReceivedAt} {
			if err := checkTime(t); err != nil {
				return err
			}
		}
		if math.IsNaN(a.Rating) {
			return idrl.Errorf(idrl.Invalid, "the rating of answer %s is not a number", a.ID)
		}
		if row.After.Seq != a.Seq {
			return idrl.Errorf(idrl.Invalid, "the belief after row %d was sent with row %d", row.After.Seq, a.Seq)
		}
		if err := checkShown(row.Next); err != nil {
			return err
		}
	}
	return db.doRepeatably(ctx, func(t *tx) error {
		for i, row := range rows {
			if err := t.append(id, row.Answer, row.After); err != nil {
				return err
			}
			if err := t.issue(id, row.Next); err != nil {
				return err
			}
			if slices.ContainsFunc(rows[i+1:], func(later record.Row) bool { return later.After.Slot == row.After.Slot }) {
				continue
			}
			if err := t.keepBelief(id, row.After); err != nil {
				return err
			}
		}
		return nil
	})
}

// keepBelief records the posterior of s and removes the last one of its slot.
func (t *tx) keepBelief(id idrl.SessionID, s record.Snapshot) error {
	const insert = `
		INSERT INTO belief (session_id, slot, seq, content) VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET seq = excluded.seq, content = excluded.content`
	_, err := t.exec(insert, id, s.Slot, s.Seq, blob(s.Belief))
	return err
}

// check returns an error unless a is the next row of the log and, if it is a reply, may close its
// assignment.
func (t *tx) check(id idrl.SessionID, a idrl.Answer) error {
	var last int64
	var found bool
	var query idrl.QueryID
	var annotator idrl.AnnotatorID
	var answer string
	const q = `
		SELECT coalesce((SELECT max(seq) FROM answer WHERE session_id = session.id), 0),
			a.id IS NOT NULL, coalesce(a.query_id, ''), coalesce(a.annotator_id, ''), coalesce(a.answer_id, '')
		FROM session LEFT JOIN assignment a ON a.session_id = session.id AND a.id = ? WHERE session.id = ?`
	if err := t.row(q, a.Assignment, id).Scan(&last, &found, &query, &annotator, &answer); err != nil {
		return missing(err, "there is no session %q", id)
	}
	switch {
	case a.Seq != last+1:
		return idrl.Errorf(idrl.Conflict, "row %d does not follow: the log of session %s has %d rows", a.Seq, id, last)
	case !a.Reply():
		return nil
	case !found:
		return idrl.Errorf(idrl.NotFound, "there is no assignment %q", a.Assignment)
	case annotator != a.Annotator:
		return idrl.Errorf(idrl.Forbidden, "assignment %s is not yours", a.Assignment)
	case query != a.Query:
		return idrl.Errorf(idrl.Invalid, "assignment %s holds query %s, not %s", a.Assignment, query, a.Query)
	case answer != "":
		return idrl.Errorf(idrl.Conflict, "assignment %s is answered already", a.Assignment)
	}
	return nil
}

// append writes the row, what it closes, and what goes with it.
func (t *tx) append(id idrl.SessionID, a idrl.Answer, s record.Snapshot) error {
	if err := t.check(id, a); err != nil {
		return err
	}
	const insert = `
		INSERT INTO answer (session_id, seq, id, assignment_id, query_id, annotator_id, undoes, choice, rating,
			reason, left_side, shown_at, answered_at, received_at, response_ms, hidden_ms, loops, input, instructions, late, doubts, much, remark,
			shown_order, best, worst, consent, wrong_ms)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	_, err := t.exec(insert, id, a.Seq, a.ID, null(a.Assignment), a.Query, a.Annotator, null(a.Undoes), a.Choice, a.Rating,
		a.Reason, a.Left, encodeTime(a.ShownAt), encodeTime(a.AnsweredAt), encodeTime(a.ReceivedAt),
		a.ResponseMS, a.HiddenMS, a.Loops, a.Input, a.Instructions, a.Late, a.Doubts.String(), a.Much, a.Remark, a.Order, a.Best, a.Worst, a.Consent, a.WrongMS)
	if err != nil {
		err = taken(err, "answer %s is recorded already, or the answer it withdraws is withdrawn", a.ID)
		return dangling(err, "answer %s refers to an annotator or an answer that is not recorded", a.ID)
	}
	actor, action, object := string(a.Annotator), "withdraw", string(a.ID)
	switch {
	case a.Decision(): // a researcher's decision is recorded with their name
		actor, action, object = "", string(a.Choice), string(a.Annotator)
		if a.Choice == idrl.Turned {
			if err := t.turnedTo(id, a.Annotator, a.Seq); err != nil {
				return err
			}
		}
	case a.Reply():
		action = "answer"
		if _, err := t.exec(`UPDATE assignment SET answer_id = ? WHERE session_id = ? AND id = ?`, a.ID, id, a.Assignment); err != nil {
			return err
		}
	}
	const posterior = `
		INSERT INTO posterior (session_id, seq, definition, representation, belief, mean, foretold, regret_definition, regret_policies, regret_within, regret_p95, regret_unbeaten, regret_mean, regret_span)
		VALUES (?, ?, ?, ?, x'', ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	r := s.Regret
	if _, err := t.exec(posterior, id, s.Seq, s.Definition, s.Representation, encodeVector(s.Mean), encodeVector(s.Foretold), r.Definition, r.Policies, r.Within, r.Bound, r.Unbeaten, r.Mean, r.Span); err != nil {
		return err
	}
	return t.audit(a.ReceivedAt, id, actor, action, object)
}

// blob keeps an empty blob from being NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Issue implements record.Journal. The clips of the queries must have come with
// an adopted generation, and the annotators must exist. It records all of as
// or none. It returns an error of kind Conflict if an ID or N is taken, and of
// kind NotFound if a clip or an annotator is missing.
func (db journal) Issue(ctx context.Context, id idrl.SessionID, as []record.Assignment) error {
	if err := checkShown(as); err != nil {
		return err
	}
	return db.doRepeatably(ctx, func(t *tx) error { return t.issue(id, as) })
}

// checkShown returns an error unless every assignment shows at least one clip.
func checkShown(as []record.Assignment) error {
	for _, a := range as {
		if n, want := len(a.Query.Clips), a.Query.Kind.Clips(); n != want {
			return idrl.Errorf(idrl.Invalid, "query %s shows %d clips; a %s must show %d", a.Query.ID, n, a.Query.Kind, want)
		}
	}
	return nil
}

func (t *tx) issue(id idrl.SessionID, as []record.Assignment) error {
	for _, a := range as {
		if err := t.putQuery(id, a.Query); err != nil {
			return err
		}
		if err := t.putAssignment(id, a); err != nil {
			return err
		}
	}
	return nil
}

// putQuery records q unless it exists. An existing one must be equal.
func (t *tx) putQuery(id idrl.SessionID, q idrl.Query) error {
	var b idrl.ClipID
	if len(q.Clips) >= 2 {
		b = q.Clips[1]
	}
	const insert = `
		INSERT INTO query (session_id, id, clip_a, clip_b, kind) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET kind = kind WHERE clip_b IS excluded.clip_b AND kind = excluded.kind`
	n, err := t.exec(insert, id, q.ID, q.Clips[0], null(b), q.Kind)
	if err != nil {
		return dangling(err, "query %s shows a clip that is not recorded", q.ID)
	}
	if n == 0 {
		return idrl.Errorf(idrl.Conflict, "query %s was asked with another meaning before", q.ID)
	}
	return t.putGroup(id, q)
}

// putGroup records the clips of q after the second, unless they exist. Existing ones must be equal.
func (t *tx) putGroup(id idrl.SessionID, q idrl.Query) error {
	const insert = `
		INSERT INTO group_clip (session_id, query_id, clip_a, place, clip_id) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET place = place WHERE clip_id = excluded.clip_id`
	for place := 2; place < len(q.Clips); place++ {
		n, err := t.exec(insert, id, q.ID, q.Clips[0], place, q.Clips[place])
		if err != nil {
			return dangling(err, "query %s shows a clip that is not recorded", q.ID)
		}
		if n == 0 {
			return idrl.Errorf(idrl.Conflict, "query %s was asked with another meaning before", q.ID)
		}
	}
	return nil
}

func (t *tx) putAssignment(id idrl.SessionID, a record.Assignment) error {
	const insert = `
		INSERT INTO assignment (session_id, id, n, query_id, clip_a, annotator_id, left_side, issued_at, lease_until,
			answer_id, reopens, gold, why_first, why_second, why_rivals, why_pair_std, why_info, why_based_on, why_after,
			why_answerable, why_apart, why_motion_a, why_motion_b, why_lead, why_seconds, why_shares, why_best, purpose, shown_order, condition, asked_before)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	w := a.Why
	_, err := t.exec(insert, id, a.ID, a.N, a.Query.ID, a.Query.Clips[0], a.Annotator, a.Left,
		encodeTime(a.IssuedAt), encodeTime(a.LeaseUntil), null(a.Answer), null(a.Reopens), a.Gold,
		w.First, w.Second, w.Rivals, w.PairStd, w.Info, w.BasedOn, w.AfterSeq,
		w.Answerable, w.Apart, w.MotionA, w.MotionB, w.Lead, w.Seconds, encodeShares(w.Shares), encodeBest(w.Best), w.Purpose, a.Order, a.Condition, a.Before)
	if err != nil {
		err = taken(err, "assignment %s (number %d) is recorded already", a.ID, a.N)
		return dangling(err, "assignment %s is for annotator %q, who is not in session %s", a.ID, a.Annotator, id)
	}
	return nil
}

// Renew implements record.Journal. It returns an error of kind NotFound if there
// is no such assignment and of kind Conflict if it is answered.
func (db journal) Renew(ctx context.Context, id idrl.SessionID, a idrl.AssignmentID, until time.Time) error {
	return db.do(ctx, func(t *tx) error {
		const update = `UPDATE assignment SET lease_until = ? WHERE session_id = ? AND id = ? AND answer_id IS NULL`
		n, err := t.exec(update, encodeTime(until), id, a)
		if err != nil || n == 1 {
			return err
		}
		var one int
		if err := t.row(`SELECT 1 FROM assignment WHERE session_id = ? AND id = ?`, id, a).Scan(&one); err != nil {
			return missing(err, "there is no assignment %q", a)
		}
		return idrl.Errorf(idrl.Conflict, "assignment %s is answered already", a)
	})
}
