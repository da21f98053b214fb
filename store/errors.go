package store

import (
	"database/sql"
	"errors"
	"fmt"

	"tiebreak/internal/idrl"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// convert turns an error of the driver into one of the project's. The text of the driver stays for
// the log; its types do not leave the package.
func convert(err error) error {
	var e *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return idrl.Errorf(idrl.NotFound, "not found")
	case !errors.As(err, &e):
		return err
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return wrap(idrl.Errorf(idrl.Conflict, "this is recorded already"), err)
	}
	switch e.Code() & 0xff { // the primary code
	case sqlite3.SQLITE_FULL:
		return wrap(idrl.Errorf(idrl.Unavailable, "the server's disk is full; nothing was recorded, try again later"), err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return wrap(idrl.Errorf(idrl.Unavailable, "the server cannot use its disk; nothing was recorded, try again later"), err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return wrap(idrl.Errorf(idrl.Unavailable, "the database is busy; try again"), err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return wrap(idrl.Errorf(idrl.Damaged, "a part of the database is damaged and cannot be read"), err)
	}
	return errors.New(err.Error())
}

// wrap keeps the text of cause without its type.
func wrap(err, cause error) error { return fmt.Errorf("%w: %s", err, cause.Error()) }

func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// missing replaces NotFound of a look-up by an error that names what is missing.
func missing(err error, format string, args ...any) error {
	if errors.Is(err, sql.ErrNoRows) {
		return idrl.Errorf(idrl.NotFound, format, args...)
	}
	return convert(err)
}
