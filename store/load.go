package store

import (
	"context"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Load implements record.Journal. The record is of one moment.
func (db journal) Load(ctx context.Context, id idrl.SessionID) (rec record.Record, err error) {
	err = db.Read(ctx, id, func(r *Reading) (err error) {
		rec, err = r.Load(ctx)
		return err
	})
	return rec, err
}

// Load is DB.Load. Unlike the rest of a Reading it takes memory for all rows of the log.
func (r *Reading) Load(ctx context.Context) (rec record.Record, err error) {
	from, id := r.from, r.spec.ID
	rec.Spec = r.spec
	if rec.Settings, err = readSettings(ctx, from, id); err != nil {
		return rec, err
	}
	if rec.Assignments, err = readAssignments(ctx, from, id); err != nil {
		return rec, err
	}
	if rec.Log, err = readLog(ctx, from, id, rec.Assignments); err != nil {
		return rec, err
	}
	if rec.Snapshots, err = readSnapshots(ctx, from, id); err != nil {
		return rec, err
	}
	if rec.Fits, err = readFits(ctx, from, id); err != nil {
		return rec, err
	}
	if rec.Clips, err = askedClips(ctx, from, id); err != nil {
		return rec, err
	}
	if rec.Generation, rec.AdoptedAt, err = lastGeneration(ctx, from, id); err != nil || rec.Generation == nil {
		return rec, err
	}
	if rec.Pool, err = readPool(ctx, from, id); err != nil {
		return rec, err
	}
	rec.Archive, err = earlierPolicies(ctx, from, id, rec.Generation.BasedOn)
	return rec, err
}

// Labelling returns the part of a record that describes how annotators answer: of the assignments
// those that are gold or turned (idrl.Query.Turned) and answered, with ID, Query and Gold alone,
// and of the snapshots the last one.
func (db journal) Labelling(ctx context.Context, id idrl.SessionID) (rec record.Record, err error) {
	err = db.Read(ctx, id, func(r *Reading) (err error) {
		rec.Spec = r.spec
		if rec.Settings, err = readSettings(ctx, r.from, id); err != nil {
			return err
		}
		if rec.Log, err = readLog(ctx, r.from, id, nil); err != nil {
			return err
		}
		if rec.Assignments, err = readAsked(ctx, r.from, id); err != nil {
			return err
		}
		return eachSnapshot(ctx, r.from, id, int64(len(rec.Log))-1, false, func(s record.Snapshot) error {
			rec.Snapshots = append(rec.Snapshots, s)
			return nil
		})
	})
	return rec, err
}

// readAsked returns the assignments of Labelling.
func readAsked(ctx context.Context, from querier, id idrl.SessionID) (out []record.Assignment, err error) {
	const (
		where = `FROM assignment JOIN query ON query.session_id = assignment.session_id
				AND query.id = assignment.query_id AND query.clip_a = assignment.clip_a
			WHERE assignment.session_id = ? AND answer_id IS NOT NULL AND (gold <> 0 OR query.clip_a > query.clip_b)`
		query = `SELECT assignment.id, gold, ` + queryColumns + ` ` + where
	)
	if out, err = room[record.Assignment](ctx, from, `SELECT count(*) `+where, id); err != nil {
		return nil, err
	}
	var a record.Assignment
	var clips clipColumns
	dst := append([]any{&a.ID, &a.Gold}, queryTargets(&a.Query, &clips)...)
	err = each(ctx, from, func(row scanner) error {
		if err := row.Scan(dst...); err != nil {
			return err
		}
		setClips(&a.Query, clips)
		if a.Gold != 0 || a.Query.Turned() {
			out = append(out, a)
		}
		return nil
	}, query, id)
	return out, err
}

// room returns an empty slice with space for as many rows as a query counts.
func room[T any](ctx context.Context, from querier, count string, id idrl.SessionID) ([]T, error) {
	var n int
	if err := from.QueryRowContext(ctx, count, id).Scan(&n); err != nil || n == 0 {
		return nil, convert(err)
	}
	return make([]T, 0, n), nil
}

// answerColumns are the columns that answerTargets scans.
const answerColumns = `answer.id, answer.seq, answer.assignment_id, answer.query_id, answer.annotator_id, answer.undoes,
	answer.choice, answer.rating, answer.reason, answer.left_side, answer.shown_at, answer.answered_at, answer.received_at,
	answer.response_ms, answer.hidden_ms, answer.loops, answer.input, answer.instructions, answer.late, answer.doubts,
	answer.much, answer.remark, answer.shown_order, answer.best, answer.worst, answer.consent, answer.wrong_ms`

// answerTargets has pointers to strings, as others here, because database/sql scans text into them fastest: without reflection.
func answerTargets(a *idrl.Answer) []any {
	return []any{
		(*string)(&a.ID), &a.Seq, text(&a.Assignment), (*string)(&a.Query), (*string)(&a.Annotator), text(&a.Undoes),
		(*string)(&a.Choice), &a.Rating, &a.Reason, (*string)(&a.Left),
		timeColumn{&a.ShownAt},
		timeColumn{&a.AnsweredAt},
		timeColumn{&a.ReceivedAt},
		&a.ResponseMS, &a.HiddenMS, &a.Loops, &a.Input, &a.Instructions, &a.Late,
		doubtsColumn{&a.Doubts},
		&a.Much, (*string)(&a.Remark), (*string)(&a.Order), (*string)(&a.Best), (*string)(&a.Worst),
		&a.Consent, &a.WrongMS,
	}
}

// readLog returns the log of a session, which shares the names of those of its assignments that are known.
func readLog(ctx context.Context, from querier, id idrl.SessionID, known []record.Assignment) ([]idrl.Answer, error) {
	asked := make(map[idrl.AssignmentID]*record.Assignment, len(known))
	for i := range known {
		asked[known[i].ID] = &known[i]
	}
	out, err := room[idrl.Answer](ctx, from, `SELECT count(*) FROM answer WHERE session_id = ?`, id)
	if err != nil {
		return nil, err
	}
	var a idrl.Answer
	dst, one := answerTargets(&a), words{}
	err = each(ctx, from, func(row scanner) error {
		if err := row.Scan(dst...); err != nil {
			return err
		}
		one.ofAnswer(&a)
		if as := asked[a.Assignment]; as != nil {
			shareNames(&a, as)
		}
		out = append(out, a)
		return nil
	}, `SELECT `+answerColumns+` FROM answer WHERE session_id = ? ORDER BY seq`, id)
	return out, err
}

// whyColumns are the columns that whyTargets scans.
const whyColumns = `assignment.why_first, assignment.why_second, assignment.why_rivals, assignment.why_pair_std, assignment.why_info,
	assignment.why_based_on, assignment.why_after, assignment.why_answerable, assignment.why_apart,
	assignment.why_motion_a, assignment.why_motion_b, assignment.why_lead, assignment.why_seconds, assignment.why_shares, assignment.why_best, assignment.purpose`

func whyTargets(w *record.Why) []any {
	return []any{
		(*string)(&w.First), (*string)(&w.Second), &w.Rivals,
		floatColumn{&w.PairStd},
		floatColumn{&w.Info},
		&w.BasedOn, &w.AfterSeq,
		&w.Answerable, &w.Apart, &w.MotionA, &w.MotionB, &w.Lead, &w.Seconds,
		sharesColumn{&w.Shares},
		bestColumn{&w.Best},
		(*string)(&w.Purpose),
	}
}

// queryColumns are the columns that queryTargets scans. The clips arrive in three
// columns, for setClips.
const queryColumns = `query.id, query.kind, query.clip_a, query.clip_b, coalesce((
		SELECT group_concat(clip_id, ' ' ORDER BY place) FROM group_clip
		WHERE group_clip.session_id = query.session_id AND group_clip.query_id = query.id AND group_clip.clip_a = query.clip_a), '')`

// clipColumns are the clips of a query as they are stored.
type clipColumns struct {
	a, b idrl.ClipID
	more string // of a group, the others with spaces between them
}

func queryTargets(q *idrl.Query, clips *clipColumns) []any {
	return []any{(*string)(&q.ID), (*string)(&q.Kind), (*string)(&clips.a), text(&clips.b), &clips.more}
}

// setClips sets the clips of a query, in a slice of its own.
func setClips(q *idrl.Query, clips clipColumns) {
	switch {
	case clips.b == "":
		q.Clips = []idrl.ClipID{clips.a}
	case clips.more == "":
		q.Clips = []idrl.ClipID{clips.a, clips.b}
	default:
		q.Clips = []idrl.ClipID{clips.a, clips.b}
		for _, id := range strings.Fields(clips.more) {
			q.Clips = append(q.Clips, idrl.ClipID(id))
		}
	}
}

func readAssignments(ctx context.Context, from querier, id idrl.SessionID) ([]record.Assignment, error) {
	const query = `
		SELECT id, n, annotator_id, left_side, shown_order, issued_at, lease_until, answer_id, reopens, gold, condition, asked_before, query_id, clip_a, ` + whyColumns + `
		FROM assignment WHERE session_id = ? ORDER BY n`
	asked, err := readQueries(ctx, from, id)
	if err != nil {
		return nil, err
	}
	out, err := room[record.Assignment](ctx, from, `SELECT count(*) FROM assignment WHERE session_id = ?`, id)
	if err != nil {
		return nil, err
	}
	var a record.Assignment
	var of queryName
	dst := []any{
		(*string)(&a.ID), &a.N, (*string)(&a.Annotator), (*string)(&a.Left), (*string)(&a.Order),
		timeColumn{&a.IssuedAt},
		timeColumn{&a.LeaseUntil},
		text(&a.Answer), text(&a.Reopens), &a.Gold, (*string)(&a.Condition), (*string)(&a.Before), (*string)(&of.id), (*string)(&of.first),
	}
	dst, one := append(dst, whyTargets(&a.Why)...), words{}
	err = each(ctx, from, func(row scanner) error {
		if err := row.Scan(dst...); err != nil {
			return err
		}
		q, ok := asked[of]
		if !ok { // of a damaged database
			return nil
		}
		one.ofAssignment(&a)
		a.Query = q
		out = append(out, a)
		return nil
	}, query, id)
	return out, err
}

// queryName names a query of a session: (a, b) and (b, a) have one id.
type queryName struct {
	id    idrl.QueryID
	first idrl.ClipID
}

// readQueries returns the queries of a session, all of which were asked. Each is read once, in the order of its table: to join them to
// the assignments takes three times as long.
func readQueries(ctx context.Context, from querier, id idrl.SessionID) (map[queryName]idrl.Query, error) {
	const query = `SELECT id, kind, clip_a, clip_b, '' FROM query WHERE session_id = ?`
	out := map[queryName]idrl.Query{}
	var clips clipColumns
	var q idrl.Query
	dst, one := queryTargets(&q, &clips), words{}
	err := each(ctx, from, func(row scanner) error {
		if err := row.Scan(dst...); err != nil {
			return err
		}
		setClips(&q, clips)
		one.ofQuery(&q)
		out[queryName{q.ID, q.Clips[0]}] = q
		return nil
	}, query, id)
	if err != nil {
		return nil, err
	}
	var of queryName
	var clip idrl.ClipID
	dst = []any{(*string)(&of.id), (*string)(&of.first), (*string)(&clip)}
	return out, each(ctx, from, func(row scanner) error {
		if err := row.Scan(dst...); err != nil {
			return err
		}
		if q, ok := out[of]; ok {
			share(one, &clip)
			q.Clips = append(q.Clips, clip)
			out[of] = q
		}
		return nil
	}, `SELECT query_id, clip_a, clip_id FROM group_clip WHERE session_id = ? ORDER BY query_id, clip_a, place`, id)
}

func readSnapshots(ctx context.Context, from querier, id idrl.SessionID) ([]record.Snapshot, error) {
	out, err := room[record.Snapshot](ctx, from, `SELECT count(*) FROM posterior WHERE session_id = ?`, id)
	if err != nil {
		return nil, err
	}
	err = eachSnapshot(ctx, from, id, 0, false, func(s record.Snapshot) error {
		out = append(out, s)
		return nil
	})
	return out, err
}

// beliefs returns the stored posteriors, by Seq, with their slots alone.
func beliefs(ctx context.Context, from querier, id idrl.SessionID) (map[int64]record.Snapshot, error) {
	out := map[int64]record.Snapshot{}
	err := each(ctx, from, func(row scanner) error {
		var s record.Snapshot
		err := row.Scan(&s.Seq, &s.Slot, &s.Belief)
		out[s.Seq] = s
		return err
	}, `SELECT seq, slot, content FROM belief WHERE session_id = ?`, id)
	return out, err
}

// eachSnapshot calls yield with the posteriors after the rows of the log that follow row after, on request
// with their Cov.
func eachSnapshot(ctx context.Context, from querier, id idrl.SessionID, after int64, cov bool, yield func(record.Snapshot) error) error {
	const columns, ordered = `SELECT seq, definition, representation, belief, mean, foretold,
			regret_definition, regret_policies, regret_within, regret_p95, regret_unbeaten, regret_mean, regret_span, `,
		` WHERE posterior.session_id = ? AND seq > ? ORDER BY seq`
	query := columns + `x'' FROM posterior` + ordered
	if cov {
		query = columns + `coalesce(cov, x'') FROM posterior
			LEFT JOIN generation ON generation.session_id = posterior.session_id AND generation.based_on = posterior.seq` + ordered
	}
	kept, err := beliefs(ctx, from, id)
	if err != nil {
		return err
	}
	var s record.Snapshot
	r := &s.Regret
	dst := []any{
		&s.Seq, &s.Definition, &s.Representation, &s.Belief,
		vectorColumn{&s.Mean},
		vectorColumn{&s.Foretold},
		&r.Definition, &r.Policies,
		floatColumn{&r.Within},
		floatColumn{&r.Bound},
		floatColumn{&r.Unbeaten},
		floatColumn{&r.Mean},
		floatColumn{&r.Span},
		vectorColumn{&s.Cov},
	}
	return each(ctx, from, func(row scanner) error {
		if err := row.Scan(dst...); err != nil {
			return err
		}
		if s.Slot = 0; len(s.Belief) == 0 {
			s.Belief = nil
		}
		if one, ok := kept[s.Seq]; ok {
			s.Belief, s.Slot = one.Belief, one.Slot
		}
		r.Seq = s.Seq
		return yield(s)
	}, query, id, after)
}
