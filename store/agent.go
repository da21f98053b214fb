package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"maps"
	"slices"

	"tiebreak/internal/idrl"
)

// partSize is the number of bytes of an agent's state that are written in one transaction; answers
// that arrive meanwhile wait for it.
const partSize = 1 << 20

// StageAgents implements record.Journal. Staged states that are never adopted are removed by the next
// adoption, or when the data folder is opened.
func (db journal) StageAgents(ctx context.Context, id idrl.SessionID, all map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		sum, k := sha256.Sum256(all[name]), 0
		for part := range slices.Chunk(all[name], partSize) {
			if err := db.do(ctx, func(t *tx) error { return generationTx{t, id}.putPart(sum, k, part) }); err != nil {
				return err
			}
			k++
		}
	}
	return nil
}

func (t generationTx) putPart(sum [sha256.Size]byte, k int, part []byte) error {
	const upsert = `
		INSERT INTO agent_part (session_id, hash, part, content) VALUES (?, ?, ?, ?)
		ON CONFLICT (session_id, hash, part) DO UPDATE SET content = excluded.content`
	_, err := t.exec(upsert, t.id, sum[:], k, part)
	return dangling(err, "there is no session %q", t.id)
}

// putAgents records the states of trainings that continue, and replaces the last of each name.
// Staged parts are not written again.
func (t generationTx) putAgents(all map[string][]byte) error {
	if len(all) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		sum := sha256.Sum256(all[name])
		var staged int
		if err := t.row(`SELECT count(*) FROM agent_part WHERE session_id = ? AND hash = ?`, t.id, sum[:]).Scan(&staged); err != nil {
			return err
		}
		k := 0
		for part := range slices.Chunk(all[name], partSize) {
			if k >= staged { // they are written in order
				if err := t.putPart(sum, k, part); err != nil {
					return err
				}
			}
			k++
		}
		const upsert = `
			INSERT INTO agent (session_id, name, hash) VALUES (?, ?, ?)
			ON CONFLICT (session_id, name) DO UPDATE SET hash = excluded.hash`
		if _, err := t.exec(upsert, t.id, name, sum[:]); err != nil {
			return dangling(err, "there is no session %q", t.id)
		}
	}
	_, err := t.exec(`DELETE FROM agent_part WHERE session_id = ?1 AND hash NOT IN (SELECT hash FROM agent WHERE session_id = ?1)`, t.id)
	return err
}

// sweepAgents removes states that a killed server had staged.
func (db journal) sweepAgents(ctx context.Context) error {
	return db.do(ctx, func(t *tx) error {
		_, err := t.exec(`
			DELETE FROM agent_part WHERE NOT EXISTS (
				SELECT 1 FROM agent WHERE agent.session_id = agent_part.session_id AND agent.hash = agent_part.hash)`)
		return err
	})
}

// Agent returns the last state of a name in idrl.Generation.Agents of the adopted generations. It
// returns an error of kind NotFound if there is none, and of kind Damaged if it is not what was
// recorded.
func (db journal) Agent(ctx context.Context, session idrl.SessionID, name string) ([]byte, error) {
	const parts = `
		SELECT hash, content FROM agent LEFT JOIN agent_part USING (session_id, hash)
		WHERE session_id = ? AND name = ? ORDER BY part`
	var all, hash []byte
	err := each(ctx, db.read, func(row scanner) error {
		var part []byte
		err := row.Scan(&hash, &part)
		all = append(all, part...)
		return err
	}, parts, session, name)
	switch sum := sha256.Sum256(all); {
	case err != nil:
		return nil, err
	case hash == nil:
		return nil, idrl.Errorf(idrl.NotFound, "session %s has no agent %q", session, name)
	case !bytes.Equal(sum[:], hash):
		return nil, idrl.Errorf(idrl.Damaged, "the state of agent %q of session %s is damaged", name, session)
	}
	return all, nil
}
