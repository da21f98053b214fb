package store

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"tiebreak/internal/idrl"
)

// Extend implements record.Journal.
func (db journal) Extend(ctx context.Context, id idrl.SessionID, g idrl.Generation, from int, seq int64) error {
	if from < 1 || from > len(g.Candidates) {
		return idrl.Errorf(idrl.Invalid, "there is no candidate from number %d on: generation %d has %d", from, g.BasedOn, len(g.Candidates))
	}
	queries, err := encodeQueries(g.Clips, g.Queries)
	if err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		to := generationTx{t, id}
		again, same, err := to.extended(g, from, queries)
		if err != nil || again {
			return err
		}
		if from == len(g.Candidates) && same {
			return to.putAgents(g.Agents)
		}
		if err := to.putContent(g); err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE generation SET queries = ?, engine = ? WHERE session_id = ? AND based_on = ?`, queries, g.Engine, id, g.BasedOn); err != nil {
			return err
		}
		if err := to.putPolicies(g, from); err != nil {
			return err
		}
		return t.audit(time.Now(), id, "", "extend", fmt.Sprintf("generation %d from candidate %d at %d", g.BasedOn, from, seq))
	})
}

// extended reports whether the generation in use already is g with these queries, and else whether it has the same queries. It returns an
// error if g cannot extend it by candidate from and later ones.
func (t generationTx) extended(g idrl.Generation, from int, queries []byte) (again, same bool, err error) {
	const last = `
		SELECT based_on, queries, (SELECT count(*) FROM policy WHERE session_id = generation.session_id AND based_on = generation.based_on)
		FROM generation WHERE session_id = ? ORDER BY adopted_at DESC, based_on DESC LIMIT 1`
	var basedOn int64
	var old []byte
	var n int
	if err := t.row(last, t.id).Scan(&basedOn, &old, &n); err != nil {
		return false, false, missing(err, "session %q has no generation to extend", t.id)
	}
	switch {
	case basedOn != g.BasedOn:
		return false, false, idrl.Errorf(idrl.Conflict, "generation %d of session %s is not in use", g.BasedOn, t.id)
	case n == from:
		return false, bytes.Equal(old, queries), nil
	case n == len(g.Candidates) && bytes.Equal(old, queries):
		has, err := t.hasPolicies(g, from)
		if err != nil || has {
			return has, has, err
		}
	}
	return false, false, idrl.Errorf(idrl.Conflict, "generation %d of session %s has %d candidates, not %d", g.BasedOn, t.id, n, from)
}

// hasPolicies reports whether the candidates of g from number from on are recorded.
func (t generationTx) hasPolicies(g idrl.Generation, from int) (bool, error) {
	const exists = `SELECT EXISTS (SELECT 1 FROM policy WHERE session_id = ? AND based_on = ? AND k = ? AND id = ? AND params = ? AND mu = ?)`
	for k := from; k < len(g.Candidates); k++ {
		c, has := g.Candidates[k], false
		err := t.row(exists, t.id, g.BasedOn, k, c.ID, encodeVector(c.Params), encodeVector(c.Mu)).Scan(&has)
		if err != nil || !has {
			return false, err
		}
	}
	return true, nil
}
