package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"tiebreak/internal/idrl"
)

// makeFolder makes dir if it does not exist. It returns an error of kind Invalid if dir cannot be
// written.
func makeFolder(dir string) error {
	unfit := func(err error) error {
		return idrl.Errorf(idrl.Invalid, "the data folder %s cannot be written (%v): choose another with --data, or make it yours", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unfit(err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return unfit(err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return unfit(err)
	}
	return nil
}

// checkExists returns an error of kind NotFound if dir has no database, and of kind Damaged if it
// had one that is missing now.
func checkExists(dir string) error {
	if err := lost(dir); err != nil {
		return err
	}
	switch _, err := os.Stat(filepath.Join(dir, FileName)); {
	case errors.Is(err, fs.ErrNotExist):
		return idrl.Errorf(idrl.NotFound, "there is no %s in %s: check --data, or start a server there first", FileName, dir)
	case err != nil:
		return idrl.Errorf(idrl.Invalid, "the data folder %s cannot be read (%v)", dir, err)
	}
	return nil
}

// lockFolder locks dir for this server until the result is closed or the process ends. The lock is
// that of SQLite on a file which stays empty, because SQLite can lock on every system.
func lockFolder(ctx context.Context, dir string) (*sql.DB, error) {
	p, err := sql.Open("sqlite", dsn(filepath.Join(dir, lockName), url.Values{"_pragma": {"busy_timeout(0)"}}))
	if err != nil {
		return nil, err
	}
	p.SetMaxOpenConns(1)
	p.SetMaxIdleConns(1)
	p.SetConnMaxIdleTime(0)
	if _, err := p.ExecContext(ctx, `BEGIN EXCLUSIVE`); err != nil {
		if busy(err) {
			err = idrl.Errorf(idrl.Conflict, "another tiebreak server uses the data folder %s: stop it, or choose another folder with --data", dir)
		}
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}
