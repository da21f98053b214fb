package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"maps"
	"slices"

	"tiebreak/internal/idrl"
)

// putAgents records the states of trainings that go on, in place of the last of each name.
func (t *tx) putAgents(id idrl.SessionID, all map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		const upsert = `
			INSERT INTO agent (session_id, name, hash, content) VALUES (?, ?, ?, ?)
			ON CONFLICT (session_id, name) DO UPDATE SET hash = excluded.hash, content = excluded.content`
		sum := sha256.Sum256(all[name])
		if _, err := t.exec(upsert, id, name, sum[:], append([]byte{}, all[name]...)); err != nil {
			return dangling(err, "there is no session %q", id)
		}
	}
	return nil
}

// Agent returns what idrl.Generation.Agents of the generations adopted so far held last
// under a name. It returns an error of kind NotFound if there is none, and of kind Damaged
// if it is not what was recorded.
func (db *DB) Agent(ctx context.Context, session idrl.SessionID, name string) ([]byte, error) {
	var content, hash []byte
	err := db.read.QueryRowContext(ctx, `SELECT content, hash FROM agent WHERE session_id = ? AND name = ?`, session, name).Scan(&content, &hash)
	if err != nil {
		return nil, missing(err, "session %s has no agent %q", session, name)
	}
	if sum := sha256.Sum256(content); !bytes.Equal(sum[:], hash) {
		return nil, idrl.Errorf(idrl.Damaged, "the state of agent %q of session %s is damaged", name, session)
	}
	return content, nil
}
