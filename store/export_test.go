package store

import (
	"context"

	"tiebreak/internal/check/prepared"
)

// Empty is a folder with a new database, which under the race detector takes seconds to make.
var Empty = prepared.Folder{Make: func(dir string) error {
	db, err := Open(context.Background(), dir)
	if err != nil {
		return err
	}
	return db.Close()
}}

// Unrecorded returns the tables that no copy of a session has.
func Unrecorded() []string { return unrecorded }
