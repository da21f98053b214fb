package store

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Adopt implements record.Journal. The name of a generation is g.BasedOn: to adopt it again changes
// nothing, and another one of that name is an error of kind Conflict.
func (db journal) Adopt(ctx context.Context, id idrl.SessionID, g idrl.Generation, seq int64, by ...record.PastTraining) error {
	queries, err := encodeQueries(g.Clips, g.Queries)
	if err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		to := generationTx{t, id}
		again, err := to.adopted(g.BasedOn, queries)
		if err != nil || again {
			return err
		}
		if err := to.putContent(g); err != nil {
			return err
		}
		const insert = `INSERT INTO generation (session_id, based_on, adopted_at, queries, engine, created_at, cov) VALUES (?, ?, ?, ?, ?, ?, ?)`
		now := time.Now()
		if _, err := t.exec(insert, id, g.BasedOn, seq, queries, g.Engine, encodeTime(now), encodeVector(g.Cov)); err != nil {
			return dangling(err, "there is no session %q", id)
		}
		if err := to.putPolicies(g, 0); err != nil {
			return err
		}
		if err := to.putPool(g.Pool); err != nil {
			return err
		}
		for _, p := range by {
			if err := to.putTraining(p); err != nil {
				return err
			}
		}
		return t.audit(now, id, "", "adopt", fmt.Sprintf("generation %d at %d", g.BasedOn, seq))
	})
}

// A generationTx writes generations of one session, with what belongs to them.
type generationTx struct {
	*tx
	id idrl.SessionID
}

// putContent records the raw steps, the agents and the clips of a generation.
func (t generationTx) putContent(g idrl.Generation) error {
	if err := t.putSteps(g.Steps); err != nil {
		return err
	}
	if err := t.putAgents(g.Agents); err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(g.Clips)) {
		if err := t.putClip(g.Clips[k]); err != nil {
			return err
		}
	}
	return nil
}

// adopted reports whether the generation with these queries is recorded.
func (t generationTx) adopted(basedOn int64, queries []byte) (bool, error) {
	var old []byte
	err := missing(t.row(`SELECT queries FROM generation WHERE session_id = ? AND based_on = ?`, t.id, basedOn).Scan(&old), "none")
	switch {
	case idrl.KindOf(err) == idrl.NotFound:
		return false, nil
	case err != nil:
		return false, err
	case !bytes.Equal(old, queries):
		return false, idrl.Errorf(idrl.Conflict, "session %s has another generation based on %d", t.id, basedOn)
	}
	return true, nil
}

// putClip records c unless it exists: its name is a hash of its content. Missing media is added. A
// clip whose raw steps are not in the database, such as one of a pool that an earlier version
// recorded, is recorded as without.
func (t generationTx) putClip(c idrl.Clip) error {
	const insert = `
		INSERT INTO clip (session_id, id, trajectory_id, start, steps, phi, media, media_sum, steps_id)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, (SELECT id FROM steps WHERE session_id = ?1 AND id = ?9))
		ON CONFLICT DO UPDATE SET media = excluded.media, media_sum = excluded.media_sum WHERE media IS NULL AND excluded.media IS NOT NULL`
	_, err := t.exec(insert, t.id, c.ID, c.From, c.Start, c.Steps, encodeVector(c.Phi), c.Media, mediaSum(c.Media), null(c.Raw))
	return dangling(err, "there is no session %q", t.id)
}

// putPolicies records the candidates of a generation from number from on.
func (t generationTx) putPolicies(g idrl.Generation, from int) error {
	for k := from; k < len(g.Candidates); k++ {
		if err := t.putPolicy(g.BasedOn, k, g.Candidates[k]); err != nil {
			return err
		}
	}
	return nil
}

func (t generationTx) putPolicy(basedOn int64, k int, c idrl.Candidate) error {
	const insert = `
		INSERT INTO policy (session_id, id, based_on, k, origin, params, theta, mu, mus, clip_id, rollouts, acted_policy, acted_task, acted_start)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	_, err := t.exec(insert, t.id, c.ID, basedOn, k, c.Origin,
		encodeVector(c.Params), encodeVector(c.Theta), encodeVector(c.Mu), encodeVector(slices.Concat(c.Mus...)), null(c.Clip), encodeNames(c.Rollouts),
		c.Acted.Policy, c.Acted.Task, c.Acted.Start)
	err = taken(err, "policy %s is recorded already", c.ID)
	return dangling(err, "policy %s is shown by clip %s, which is not in its generation", c.ID, c.Clip)
}

func (t generationTx) putPool(pool []idrl.Candidate) error {
	for k, c := range pool {
		const insert = `INSERT INTO pool (session_id, id, k, origin, mu, clip_id, rollouts) VALUES (?, ?, ?, ?, ?, ?, ?)`
		_, err := t.exec(insert, t.id, c.ID, k, c.Origin, encodeVector(c.Mu), null(c.Clip), encodeNames(c.Rollouts))
		err = taken(err, "policy %s of the pool is recorded already", c.ID)
		if err = dangling(err, "policy %s is shown by clip %s, which is not in the generation", c.ID, c.Clip); err != nil {
			return err
		}
	}
	return nil
}

// lastGeneration reads the generation adopted last, nil if there is none.
func lastGeneration(ctx context.Context, from querier, id idrl.SessionID) (g *idrl.Generation, adoptedAt int64, err error) {
	const last = `
		SELECT based_on, adopted_at, queries, engine FROM generation
		WHERE session_id = ? ORDER BY adopted_at DESC, based_on DESC LIMIT 1`
	var queries []byte
	g = &idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{}}
	err = missing(from.QueryRowContext(ctx, last, id).Scan(&g.BasedOn, &adoptedAt, &queries, &g.Engine), "none")
	if idrl.KindOf(err) == idrl.NotFound {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	names, err := clipNames(queries)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		if g.Clips[name], err = readClip(ctx, from, id, name); err != nil {
			return nil, 0, err
		}
	}
	if g.Queries, err = decodeQueries(queries, g.Clips); err != nil {
		return nil, 0, err
	}
	g.Candidates, err = candidates(ctx, from, id, g.BasedOn)
	return g, adoptedAt, err
}

// Engines returns the physics engines that generations of a session were computed
// with, as idrl.Generation.Engine names them, in the order of their first use.
func (db journal) Engines(ctx context.Context, id idrl.SessionID) ([]string, error) {
	return readEngines(ctx, db.read, id)
}

func readEngines(ctx context.Context, from querier, id idrl.SessionID) ([]string, error) {
	const query = `
		SELECT engine FROM generation WHERE session_id = ? AND engine != ''
		GROUP BY engine ORDER BY min(adopted_at), min(based_on)`
	var out []string
	err := each(ctx, from, func(row scanner) error {
		var engine string
		err := row.Scan(&engine)
		out = append(out, engine)
		return err
	}, query, id)
	return out, err
}

// askedClips reads the clips that were asked about, without their media.
func askedClips(ctx context.Context, from querier, id idrl.SessionID) (map[idrl.ClipID]idrl.Clip, error) {
	const query = `
		SELECT id, trajectory_id, start, steps, phi, steps_id FROM clip WHERE session_id = ?1 AND id IN (
			SELECT clip_a FROM query WHERE session_id = ?1 UNION SELECT clip_b FROM query WHERE session_id = ?1
			UNION SELECT clip_id FROM group_clip WHERE session_id = ?1)`
	out := map[idrl.ClipID]idrl.Clip{}
	err := each(ctx, from, func(row scanner) error {
		var c idrl.Clip
		err := row.Scan(&c.ID, &c.From, &c.Start, &c.Steps, vectorColumn{&c.Phi}, text(&c.Raw))
		out[c.ID] = c
		return err
	}, query, id)
	return out, err
}

// readClip reads a clip without its media.
func readClip(ctx context.Context, from querier, id idrl.SessionID, name idrl.ClipID) (idrl.Clip, error) {
	c := idrl.Clip{ID: name}
	const query = `SELECT trajectory_id, start, steps, phi, steps_id FROM clip WHERE session_id = ? AND id = ?`
	err := from.QueryRowContext(ctx, query, id, name).Scan(&c.From, &c.Start, &c.Steps, vectorColumn{&c.Phi}, text(&c.Raw))
	return c, missing(err, "session %s has no clip %q", id, name)
}

func candidates(ctx context.Context, from querier, id idrl.SessionID, basedOn int64) ([]idrl.Candidate, error) {
	var out []idrl.Candidate
	err := each(ctx, from, func(row scanner) error {
		var c idrl.Candidate
		err := row.Scan(&c.ID, &c.Origin, vectorColumn{&c.Params}, vectorColumn{&c.Theta}, vectorColumn{&c.Mu}, rowsColumn{&c.Mus, &c.Mu}, text(&c.Clip), namesColumn{&c.Rollouts},
			&c.Acted.Policy, &c.Acted.Task, &c.Acted.Start)
		out = append(out, c)
		return err
	}, `SELECT id, origin, params, theta, mu, mus, clip_id, rollouts, acted_policy, acted_task, acted_start FROM policy WHERE session_id = ? AND based_on = ? ORDER BY k`, id, basedOn)
	return out, err
}

// readPool reads the pool of the first generation.
func readPool(ctx context.Context, from querier, id idrl.SessionID) ([]idrl.Candidate, error) {
	var out []idrl.Candidate
	err := each(ctx, from, func(row scanner) error {
		var c idrl.Candidate
		err := row.Scan(&c.ID, &c.Origin, vectorColumn{&c.Mu}, text(&c.Clip), namesColumn{&c.Rollouts})
		out = append(out, c)
		return err
	}, `SELECT id, origin, mu, clip_id, rollouts FROM pool WHERE session_id = ? ORDER BY k`, id)
	return out, err
}

// earlierPolicies reads the policies of every generation except the one in use, oldest first.
func earlierPolicies(ctx context.Context, from querier, id idrl.SessionID, inUse int64) ([][]idrl.Candidate, error) {
	const query = `
		SELECT based_on, policy.id, origin, params, mu, mus, clip_id, rollouts FROM policy JOIN generation USING (session_id, based_on)
		WHERE session_id = ? AND based_on <> ? ORDER BY adopted_at, based_on, k`
	var out [][]idrl.Candidate
	last := int64(-1)
	err := each(ctx, from, func(row scanner) error {
		var c idrl.Candidate
		var basedOn int64
		err := row.Scan(&basedOn, &c.ID, &c.Origin, vectorColumn{&c.Params}, vectorColumn{&c.Mu}, rowsColumn{&c.Mus, &c.Mu}, text(&c.Clip), namesColumn{&c.Rollouts})
		if basedOn != last {
			out, last = append(out, nil), basedOn
		}
		out[len(out)-1] = append(out[len(out)-1], c)
		return err
	}, query, id, inUse)
	return out, err
}

// AnnotatorMayFetch reports whether the clip belongs to an assignment, open or
// closed, of the annotator, or to a question for practice.
func (db journal) AnnotatorMayFetch(ctx context.Context, session idrl.SessionID, annotator idrl.AnnotatorID, clip idrl.ClipID) (bool, error) {
	const query = `
		SELECT EXISTS (
			SELECT 1 FROM query JOIN assignment USING (session_id, clip_a)
			WHERE session_id = ?1 AND annotator_id = ?2 AND query_id = query.id AND clip_a = ?3
			UNION ALL
			SELECT 1 FROM query JOIN assignment USING (session_id, clip_a)
			WHERE session_id = ?1 AND annotator_id = ?2 AND query_id = query.id AND clip_b = ?3
			UNION ALL
			SELECT 1 FROM group_clip JOIN assignment USING (session_id, query_id, clip_a)
			WHERE session_id = ?1 AND annotator_id = ?2 AND clip_id = ?3
			UNION ALL
			SELECT 1 FROM known JOIN query ON query.session_id = known.session_id AND query.id = known.query_id AND query.clip_a = known.clip_a
			WHERE known.session_id = ?1 AND known.use = 'practice' AND (query.clip_a = ?3 OR query.clip_b = ?3)
				AND EXISTS (SELECT 1 FROM annotator WHERE session_id = ?1 AND id = ?2))`
	var may bool
	err := db.read.QueryRowContext(ctx, query, session, annotator, clip).Scan(&may)
	return may, convert(err)
}
