package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Known returns the questions of a session with known answers that are in use, by their
// versions, with their clips.
func (db studies) Known(ctx context.Context, id idrl.SessionID) (out []record.Known, err error) {
	err = db.snapshot(ctx, func(from querier) (err error) {
		if _, err = readSpec(ctx, from, id); err != nil {
			return err
		}
		out, err = readKnown(ctx, from, id)
		return err
	})
	return out, err
}

// inUse are the rows of known that count, of session ?1.
const inUse = `known.session_id = ?1 AND known.use <> 'none' AND known.version =
	(SELECT max(version) FROM known AS later WHERE later.session_id = ?1 AND later.query_id = known.query_id)`

// knownColumns are the columns that knownTargets scans.
const knownColumns = `known.version, known.use, known.choice, known.rating, known.note, known.author, known.created_at, ` + queryColumns

func knownTargets(k *record.Known, clips *clipColumns) []any {
	return append([]any{&k.Version, &k.Use, &k.Choice, &k.Rating, &k.Note, &k.By, timeColumn{&k.At}}, queryTargets(&k.Query, clips)...)
}

const knownRows = ` FROM known JOIN query ON query.session_id = known.session_id AND query.id = known.query_id AND query.clip_a = known.clip_a `

func readKnown(ctx context.Context, from querier, id idrl.SessionID) (out []record.Known, err error) {
	err = each(ctx, from, func(row scanner) error {
		var k record.Known
		var clips clipColumns
		err := row.Scan(knownTargets(&k, &clips)...)
		setClips(&k.Query, clips)
		out = append(out, k)
		return err
	}, `SELECT `+knownColumns+knownRows+`WHERE `+inUse+` ORDER BY known.version`, id)
	for i := range out {
		for _, name := range out[i].Query.Clips {
			c, err := readClip(ctx, from, id, name)
			if err != nil {
				return nil, err
			}
			out[i].Clips = append(out[i].Clips, c)
		}
	}
	return out, err
}

// readGold returns which questions are hidden among the others, and how often.
func readGold(ctx context.Context, from querier, spec idrl.SessionSpec) (record.GoldSettings, error) {
	all, err := readKnown(ctx, from, spec.ID)
	all = slices.DeleteFunc(all, func(k record.Known) bool { return k.Use != record.AsGold })
	return record.GoldSettings{Every: spec.GoldEvery, Questions: slices.Clip(all)}, err
}

// SetKnown records the right answer to a question about clips of a session, one or two, and its
// use, and returns its version. k.Query is made from the clips. If nothing changes there is no new
// version. It returns an error of kind Invalid if clips and answer do not fit the session, of kind
// NotFound if there is no such session or clip, and of kind Conflict if there are too many such
// questions.
func (db studies) SetKnown(ctx context.Context, id idrl.SessionID, clips []idrl.ClipID, k record.Known, actor string, now time.Time) (version int64, err error) {
	err = db.do(ctx, func(t *tx) (err error) {
		if k.Query, err = t.questionAbout(ctx, id, clips); err != nil {
			return err
		}
		if err := k.Check(); err != nil {
			return err
		}
		all, err := readKnown(ctx, t.conn, id)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(all, func(o record.Known) bool { return o.Query.ID == k.Query.ID }); i >= 0 {
			old := all[i]
			if old.Use == k.Use && old.ChoiceIn(k.Query) == k.Choice && old.Rating == k.Rating && old.Note == k.Note {
				version = old.Version
				return nil
			}
			all = slices.Delete(all, i, i+1)
		} else if k.Use == record.Unused {
			return nil
		}
		if err := checkRoom(all, k.Use); err != nil {
			return err
		}
		version, err = t.putKnown(id, k, actor, now)
		return err
	})
	return version, err
}

// checkRoom returns an error of kind Conflict if no further question may have that use.
func checkRoom(all []record.Known, use record.Use) error {
	practice := 0
	for _, k := range all {
		if k.Use == record.ForPractice {
			practice++
		}
	}
	switch {
	case use == record.ForPractice && practice >= record.MaxPractice:
		return idrl.Errorf(idrl.Conflict, "a session may have %d practice questions; stop using one first", record.MaxPractice)
	case use != record.Unused && len(all) >= record.MaxKnown:
		return idrl.Errorf(idrl.Conflict, "a session may have %d questions with known answers; stop using one first", record.MaxKnown)
	}
	return nil
}

// questionAbout returns the question of the session about clips.
func (t *tx) questionAbout(ctx context.Context, id idrl.SessionID, names []idrl.ClipID) (q idrl.Query, err error) {
	spec, err := t.spec(id)
	if err != nil {
		return q, err
	}
	clips := map[idrl.ClipID]idrl.Clip{}
	for _, name := range names {
		if clips[name], err = readClip(ctx, t.conn, id, name); err != nil {
			return q, err
		}
	}
	q, _, ok := remake(clips, names)
	if !ok || q.Kind != spec.Kind.Asked() || len(clips) != len(names) {
		return q, idrl.Errorf(idrl.Invalid, "session %s asks no question about these clips: it asks questions of type %s", id, spec.Kind)
	}
	return q, nil
}

func (t *tx) putKnown(id idrl.SessionID, k record.Known, actor string, now time.Time) (version int64, err error) {
	if err := t.putQuery(id, k.Query); err != nil {
		return 0, err
	}
	const last = `SELECT coalesce(max(version), 0) FROM known WHERE session_id = ?`
	if err := t.row(last, id).Scan(&version); err != nil {
		return 0, convert(err)
	}
	version++
	const insert = `
		INSERT INTO known (session_id, version, query_id, clip_a, use, choice, rating, note, author, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	if _, err := t.exec(insert, id, version, k.Query.ID, k.Query.Clips[0], k.Use, k.Choice, k.Rating, k.Note, actor, encodeTime(now)); err != nil {
		return 0, err
	}
	return version, t.changed(now, id, actor, "set known answer", fmt.Sprintf("version %d: question %s, %s", version, k.Query.ID, k.Use))
}

// SetGoldEvery changes how often gold questions come in a session; 0 is never. It returns an
// error of kind Invalid if that is out of range and of kind NotFound if there is no such
// session.
func (db studies) SetGoldEvery(ctx context.Context, id idrl.SessionID, every int, actor string, now time.Time) error {
	if err := idrl.CheckGoldEvery(every); err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		spec, err := t.spec(id)
		if err != nil || spec.GoldEvery == every {
			return err
		}
		if _, err := t.exec(`UPDATE session SET gold_every = ? WHERE id = ?`, every, id); err != nil {
			return err
		}
		return t.changed(now, id, actor, "set gold every", fmt.Sprintf("%d, was %d", every, spec.GoldEvery))
	})
}

// Askable returns the questions of a session without a known answer: those that were asked, the
// ones whose clips look most different first, or those of the generation in use that were not
// asked.
func (db studies) Askable(ctx context.Context, id idrl.SessionID, asked bool) (out []idrl.Query, err error) {
	err = db.snapshot(ctx, func(from querier) error {
		was, err := askedQueries(ctx, from, id)
		if err != nil {
			return err
		}
		all := was
		if !asked {
			g, _, err := lastGeneration(ctx, from, id)
			if err != nil || g == nil {
				return err
			}
			all = g.Queries
		}
		known, err := readKnown(ctx, from, id)
		if err != nil {
			return err
		}
		not := map[idrl.QueryID]bool{}
		for _, k := range known {
			not[k.Query.ID] = true
		}
		if !asked {
			for _, q := range was {
				not[q.ID] = true
			}
		}
		for _, q := range all {
			if !not[q.ID] {
				not[q.ID] = true
				out = append(out, q)
			}
		}
		return nil
	})
	return out, err
}

func askedQueries(ctx context.Context, from querier, id idrl.SessionID) (out []idrl.Query, err error) {
	err = each(ctx, from, func(row scanner) error {
		var q idrl.Query
		var clips clipColumns
		err := row.Scan(queryTargets(&q, &clips)...)
		setClips(&q, clips)
		out = append(out, q)
		return err
	}, `SELECT `+queryColumns+` FROM assignment JOIN query ON query.session_id = assignment.session_id
			AND query.id = assignment.query_id AND query.clip_a = assignment.clip_a
		WHERE assignment.session_id = ? GROUP BY query.id, query.clip_a ORDER BY max(why_apart) DESC, min(n)`, id)
	return out, err
}
