package store

import (
	"context"
	"database/sql"
	"errors"
)

// Meta returns the value of key, empty if it was never set.
func (db *file) Meta(ctx context.Context, key string) (value string, err error) {
	err = db.read.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, convert(err)
}

// SetMeta sets the value of key.
func (db *file) SetMeta(ctx context.Context, key, value string) error {
	return db.do(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`, key, value)
		return err
	})
}
