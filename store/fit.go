package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// AdoptFit implements record.Journal.
func (db journal) AdoptFit(ctx context.Context, id idrl.SessionID, f record.LearntFit) error {
	hash := sha256.Sum256(f.Content)
	return db.do(ctx, func(t *tx) error {
		var last int64
		const query = `SELECT coalesce((SELECT max(version) FROM fit WHERE session_id = session.id), 0) FROM session WHERE id = ?`
		if err := t.row(query, id).Scan(&last); err != nil {
			return missing(err, "there is no session %q", id)
		}
		if f.Version == last && last > 0 {
			return generationTx{t, id}.adoptedFit(f, hash[:])
		}
		if f.Version != last+1 {
			return idrl.Errorf(idrl.Conflict, "fit %d does not follow: session %s has %d", f.Version, id, last)
		}
		const insert = `
			INSERT INTO fit (session_id, version, learner, based_on, adopted_at, seed, content, hash, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
		now := time.Now()
		seed := binary.LittleEndian.AppendUint64(nil, f.Seed)
		content := append([]byte{}, f.Content...) // not nil, which SQLite stores as NULL
		if _, err := t.exec(insert, id, f.Version, f.Learner, f.BasedOn, f.AdoptedAt, seed, content, hash[:], encodeTime(now)); err != nil {
			return err
		}
		return t.audit(now, id, "", "adopt", fmt.Sprintf("representation %d, learnt from row %d, at %d", f.Version, f.BasedOn, f.AdoptedAt))
	})
}

// adoptedFit returns an error of kind Conflict unless the fit of f's version is f.
func (t generationTx) adoptedFit(f record.LearntFit, hash []byte) error {
	var old []byte
	if err := t.row(`SELECT hash FROM fit WHERE session_id = ? AND version = ?`, t.id, f.Version).Scan(&old); err != nil {
		return err
	}
	if !bytes.Equal(old, hash) {
		return idrl.Errorf(idrl.Conflict, "session %s has another fit %d", t.id, f.Version)
	}
	return nil
}

// readFits reads the learnt representations of a session by version. A damaged one has no content.
func readFits(ctx context.Context, from querier, id idrl.SessionID) ([]record.LearntFit, error) {
	var out []record.LearntFit
	err := each(ctx, from, func(row scanner) error {
		var f record.LearntFit
		var seed, hash []byte
		if err := row.Scan(&f.Version, &f.Learner, &f.BasedOn, &f.AdoptedAt, &seed, &f.Content, &hash); err != nil {
			return err
		}
		f.Seed = binary.LittleEndian.Uint64(seed)
		if sum := sha256.Sum256(f.Content); !bytes.Equal(sum[:], hash) {
			f.Content = nil
		}
		out = append(out, f)
		return nil
	}, `SELECT version, learner, based_on, adopted_at, seed, content, hash FROM fit WHERE session_id = ? ORDER BY version`, id)
	return out, err
}
