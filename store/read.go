package store

import (
	"context"
	"database/sql"
	"errors"

	"tiebreak/internal/idrl"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A querier is a pool of connections or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// each calls f with every row of a query.
func each(ctx context.Context, from querier, f func(scanner) error, query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return convert(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return convert(err)
		}
		idrl.Pause(ctx)
	}
	return convert(rows.Err())
}

// snapshot calls f with a transaction in which every query sees the same state
// of the database.
func (db *file) snapshot(ctx context.Context, f func(querier) error) error {
	t, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return convert(err)
	}
	defer func() { _ = t.Rollback() }() // there is nothing to commit
	return f(t)
}

// taken replaces a violated uniqueness by an error of kind Conflict that names what is taken.
func taken(err error, format string, args ...any) error {
	if idrl.KindOf(convert(err)) == idrl.Conflict {
		return idrl.Errorf(idrl.Conflict, format, args...)
	}
	return err
}

// dangling replaces a violated reference by an error of kind NotFound that names what is missing.
func dangling(err error, format string, args ...any) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY {
		return idrl.Errorf(idrl.NotFound, format, args...)
	}
	return err
}
