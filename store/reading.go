package store

import (
	"context"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A Reading is a session at one moment, however long it is read and whatever is written meanwhile.
// Its methods are for one goroutine, and until DB.Read returns.
type Reading struct {
	from querier
	spec idrl.SessionSpec
}

// Read calls f with the record of a session. It returns the error of f, or an error of kind
// NotFound if there is no such session.
func (db journal) Read(ctx context.Context, id idrl.SessionID, f func(*Reading) error) error {
	return db.snapshot(ctx, func(from querier) error {
		spec, err := readSpec(ctx, from, id)
		if err != nil {
			return err
		}
		return f(&Reading{from, spec})
	})
}

// Spec returns the settings of the session.
func (r *Reading) Spec() idrl.SessionSpec { return r.spec }

// Rows calls yield with the replies in p, as DB.Rows does.
func (r *Reading) Rows(ctx context.Context, p record.Part, yield func(record.Labelled) error) error {
	return readRows(ctx, r.from, r.spec, p.After, func(l record.Labelled) error {
		if p.Counting && (l.Withdrawn || l.LeftOut) {
			return nil
		}
		return yield(l)
	})
}

// Log calls yield with the rows of the log after p.After, by Seq.
func (r *Reading) Log(ctx context.Context, p record.Part, yield func(idrl.Answer) error) error {
	return each(ctx, r.from, func(row scanner) error {
		var a idrl.Answer
		if err := row.Scan(answerTargets(&a)...); err != nil {
			return err
		}
		return yield(a)
	}, `SELECT `+answerColumns+` FROM answer WHERE session_id = ? AND seq > ? ORDER BY seq`, r.spec.ID, p.After)
}

// LastSeq returns the position of the last row of the log, 0 if there is none, and the id of
// the last reply, empty if there is none.
func (r *Reading) LastSeq(ctx context.Context) (seq int64, last idrl.AnswerID, err error) {
	const query = `SELECT coalesce(max(seq), 0), coalesce((
			SELECT id FROM answer WHERE session_id = ?1 AND undoes IS NULL AND ` + isReply + ` ORDER BY seq DESC LIMIT 1), '')
		FROM answer WHERE session_id = ?1`
	err = r.from.QueryRowContext(ctx, query, r.spec.ID).Scan(&seq, &last)
	return seq, last, convert(err)
}

// SeqOf returns the position of a row of the log, or an error of kind NotFound.
func (r *Reading) SeqOf(ctx context.Context, id idrl.AnswerID) (seq int64, err error) {
	err = r.from.QueryRowContext(ctx, `SELECT seq FROM answer WHERE session_id = ? AND id = ?`, r.spec.ID, id).Scan(&seq)
	return seq, missing(err, "session %s has no answer %q", r.spec.ID, id)
}

// The replies of session ?1 in a part: after ?2, and if ?3 only those that count. CROSS JOIN makes
// SQLite keep the written order.
const (
	answeredFrom = `answer
		CROSS JOIN annotator ON annotator.session_id = answer.session_id AND annotator.id = answer.annotator_id
		CROSS JOIN assignment ON assignment.session_id = answer.session_id AND assignment.id = answer.assignment_id
		CROSS JOIN query ON query.session_id = answer.session_id AND query.id = assignment.query_id AND query.clip_a = assignment.clip_a `
	answeredWhere = `answer.session_id = ?1 AND answer.seq > ?2 AND answer.undoes IS NULL
		AND (NOT ?3 OR NOT annotator.left_out AND NOT EXISTS (
			SELECT 1 FROM answer AS later WHERE later.session_id = answer.session_id AND later.undoes = answer.id))`
	answered = answeredFrom + `WHERE ` + answeredWhere
)

// Questions calls yield with the assignments that the replies of p answered, in the order of the
// replies; again says that the annotator had answered the question before, by an answer that was
// not withdrawn.
func (r *Reading) Questions(ctx context.Context, p record.Part, yield func(a record.Assignment, again bool) error) error {
	const query = `
		SELECT assignment.id, n, assignment.annotator_id, assignment.left_side, assignment.shown_order, issued_at, lease_until, answer_id, reopens, gold, condition, asked_before,
			reopens IS NULL AND EXISTS (SELECT 1 FROM assignment AS earlier INDEXED BY assignment_annotator WHERE earlier.session_id = assignment.session_id
				AND earlier.annotator_id = assignment.annotator_id AND earlier.query_id = assignment.query_id
				AND earlier.n < assignment.n AND earlier.answer_id IS NOT NULL), ` +
		whyColumns + `, ` + queryColumns + ` FROM ` + answered + ` ORDER BY answer.seq`
	var a record.Assignment
	var again bool
	var clips clipColumns
	dst := []any{&a.ID, &a.N, &a.Annotator, &a.Left, &a.Order, timeColumn{&a.IssuedAt}, timeColumn{&a.LeaseUntil}, text(&a.Answer), text(&a.Reopens), &a.Gold, &a.Condition, &a.Before, &again}
	dst = append(append(dst, whyTargets(&a.Why)...), queryTargets(&a.Query, &clips)...)
	return each(ctx, r.from, func(row scanner) error {
		if err := row.Scan(dst...); err != nil {
			return err
		}
		setClips(&a.Query, clips)
		return yield(a, again)
	}, query, r.spec.ID, p.After, p.Counting)
}

// shown are the names of the clips of the replies of a part, as a list for SQL.
const shown = `
	SELECT query.clip_a FROM ` + answered + ` UNION SELECT query.clip_b FROM ` + answered + ` AND query.clip_b IS NOT NULL UNION
	SELECT group_clip.clip_id FROM ` + answeredFrom + `CROSS JOIN group_clip ON group_clip.session_id = query.session_id
		AND group_clip.query_id = query.id AND group_clip.clip_a = query.clip_a WHERE ` + answeredWhere

// Clips calls yield with the clips of the replies of p, without Media, by Raw, Start and ID; drawn
// says that there are Media.
func (r *Reading) Clips(ctx context.Context, p record.Part, yield func(c idrl.Clip, drawn bool) error) error {
	const query = `
		SELECT id, trajectory_id, start, steps, phi, steps_id, media IS NOT NULL FROM clip
		WHERE session_id = ?1 AND id IN (` + shown + `) ORDER BY coalesce(steps_id, ''), start, id`
	return each(ctx, r.from, func(row scanner) error {
		var c idrl.Clip
		var drawn bool
		if err := row.Scan(&c.ID, &c.From, &c.Start, &c.Steps, vectorColumn{&c.Phi}, text(&c.Raw), &drawn); err != nil {
			return err
		}
		return yield(c, drawn)
	}, query, r.spec.ID, p.After, p.Counting)
}

// CountClips returns the number of all clips of the session.
func (r *Reading) CountClips(ctx context.Context) (n int, err error) {
	err = r.from.QueryRowContext(ctx, `SELECT count(*) FROM clip WHERE session_id = ?`, r.spec.ID).Scan(&n)
	return n, convert(err)
}

// Episodes calls yield with the encoded raw steps of the trajectories of the clips of p, by name.
func (r *Reading) Episodes(ctx context.Context, p record.Part, yield func(idrl.StepsID, []byte) error) error {
	const query = `SELECT id, content FROM steps WHERE session_id = ?1 AND id IN (
		SELECT steps_id FROM clip WHERE session_id = ?1 AND id IN (` + shown + `)) ORDER BY id`
	return each(ctx, r.from, func(row scanner) error {
		var id idrl.StepsID
		var content []byte
		if err := row.Scan(&id, &content); err != nil {
			return err
		}
		return yield(id, content)
	}, query, r.spec.ID, p.After, p.Counting)
}

// Steps returns raw steps, encoded, or an error of kind NotFound.
func (r *Reading) Steps(ctx context.Context, name idrl.StepsID) ([]byte, error) {
	var content []byte
	err := r.from.QueryRowContext(ctx, `SELECT content FROM steps WHERE session_id = ? AND id = ?`, r.spec.ID, name).Scan(&content)
	return content, missing(err, "session %s has no raw steps %q", r.spec.ID, name)
}

// Members returns the annotators whose data are not withdrawn, in the order in which they
// joined, without their names, and how many have withdrawn.
func (r *Reading) Members(ctx context.Context) (out []record.Member, withdrawn int, err error) {
	const query = `
		SELECT id, created_at, revoked_at, left_out, turned, acknowledged,
			coalesce((SELECT max(version) FROM agreement WHERE session_id = annotator.session_id AND annotator_id = annotator.id), 0),
			(SELECT agreed_at FROM agreement WHERE session_id = annotator.session_id AND annotator_id = annotator.id ORDER BY version DESC LIMIT 1)
		FROM annotator WHERE session_id = ? AND id <> '' AND withdrawn_at IS NULL ORDER BY created_at, length(id), id`
	err = each(ctx, r.from, func(row scanner) error {
		var m record.Member
		err := row.Scan(&m.ID, timeColumn{&m.JoinedAt}, timeColumn{&m.RevokedAt}, &m.LeftOut, &m.Turned, &m.Read, &m.Agreed, timeColumn{&m.AgreedAt})
		out = append(out, m)
		return err
	}, query, r.spec.ID)
	if err != nil {
		return nil, 0, err
	}
	const count = `SELECT count(*) FROM annotator WHERE session_id = ? AND withdrawn_at IS NOT NULL`
	return out, withdrawn, convert(r.from.QueryRowContext(ctx, count, r.spec.ID).Scan(&withdrawn))
}

// Policies calls yield with every policy: those of the pool, whose generation is -1, then
// those of the generations in the order of their adoption.
func (r *Reading) Policies(ctx context.Context, yield func(generation int64, c idrl.Candidate) error) error {
	pool, err := readPool(ctx, r.from, r.spec.ID)
	if err != nil {
		return err
	}
	for _, c := range pool {
		if err := yield(-1, c); err != nil {
			return err
		}
	}
	const query = `
		SELECT based_on, policy.id, origin, params, theta, mu, clip_id, rollouts, acted_policy, acted_task, acted_start FROM policy JOIN generation USING (session_id, based_on)
		WHERE session_id = ? ORDER BY adopted_at, based_on, k`
	return each(ctx, r.from, func(row scanner) error {
		var c idrl.Candidate
		var generation int64
		err := row.Scan(&generation, &c.ID, &c.Origin, vectorColumn{&c.Params}, vectorColumn{&c.Theta}, vectorColumn{&c.Mu}, text(&c.Clip), namesColumn{&c.Rollouts},
			&c.Acted.Policy, &c.Acted.Task, &c.Acted.Start)
		if err != nil {
			return err
		}
		return yield(generation, c)
	}, query, r.spec.ID)
}

// Snapshots calls yield with the posteriors after the rows of the log after p.After, by Seq.
func (r *Reading) Snapshots(ctx context.Context, p record.Part, yield func(record.Snapshot) error) error {
	return eachSnapshot(ctx, r.from, r.spec.ID, p.After, true, yield)
}

// Trainings calls yield with the generations and the learnt representations, each in the
// order of their adoption.
func (r *Reading) Trainings(ctx context.Context, yield func(record.Adopted) error) error {
	const generations = `
		SELECT based_on, adopted_at, engine, created_at,
			(SELECT count(*) FROM policy WHERE policy.session_id = generation.session_id AND policy.based_on = generation.based_on)
		FROM generation WHERE session_id = ? ORDER BY adopted_at, based_on`
	err := each(ctx, r.from, func(row scanner) error {
		t := record.Adopted{Kind: "generation"}
		if err := row.Scan(&t.BasedOn, &t.AdoptedAt, &t.Engine, timeColumn{&t.At}, &t.Policies); err != nil {
			return err
		}
		return yield(t)
	}, generations, r.spec.ID)
	if err != nil {
		return err
	}
	const fits = `SELECT based_on, adopted_at, learner, version, created_at FROM fit WHERE session_id = ? ORDER BY version`
	return each(ctx, r.from, func(row scanner) error {
		t := record.Adopted{Kind: "fit"}
		if err := row.Scan(&t.BasedOn, &t.AdoptedAt, &t.Engine, &t.Version, timeColumn{&t.At}); err != nil {
			return err
		}
		return yield(t)
	}, fits, r.spec.ID)
}

// Fits returns the learnt representations, as Record.Fits.
func (r *Reading) Fits(ctx context.Context) ([]record.LearntFit, error) {
	return readFits(ctx, r.from, r.spec.ID)
}

// Engines is DB.Engines.
func (r *Reading) Engines(ctx context.Context) ([]string, error) {
	return readEngines(ctx, r.from, r.spec.ID)
}

// Instructions is DB.InstructionVersions.
func (r *Reading) Instructions(ctx context.Context) ([]idrl.Instructions, error) {
	return instructionVersions(ctx, r.from, r.spec.ID)
}

// Consents is DB.ConsentVersions.
func (r *Reading) Consents(ctx context.Context) ([]idrl.Consent, error) {
	return consentVersions(ctx, r.from, r.spec.ID)
}

// Pictures calls yield with the pictures of the instructions, in the order in which they came.
func (r *Reading) Pictures(ctx context.Context, yield func(record.Picture) error) error {
	return each(ctx, r.from, func(row scanner) error {
		var p record.Picture
		if err := row.Scan(&p.ID, &p.Type, &p.Content); err != nil {
			return err
		}
		return yield(p)
	}, `SELECT id, type, content FROM picture WHERE session_id = ? ORDER BY created_at, id`, r.spec.ID)
}

// Known is DB.Known.
func (r *Reading) Known(ctx context.Context) ([]record.Known, error) {
	return readKnown(ctx, r.from, r.spec.ID)
}

// Practice is DB.PracticeAnswers.
func (r *Reading) Practice(ctx context.Context, yield func(record.Practice, record.Known) error) error {
	return practiceAnswers(ctx, r.from, r.spec.ID, yield)
}

// Flags is DB.Flags.
func (r *Reading) Flags(ctx context.Context) ([]record.Flag, error) {
	return readFlags(ctx, r.from, r.spec.ID)
}
