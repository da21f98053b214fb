package storetest

import (
	"context"
	"database/sql"
	"path/filepath"

	"tiebreak/store"
)

// Exec carries out statements on the database of a data folder as another program would.
func Exec(ctx context.Context, dir, statements string, args ...any) error {
	db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, statements, args...)
	return err
}

// Lock begins to write to the database of a data folder as another program would, so that nobody else can until release is called.
func Lock(ctx context.Context, dir string) (release func() error, err error) {
	db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db.Close, nil // the transaction ends with its connection
}
