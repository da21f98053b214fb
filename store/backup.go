package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"tiebreak/internal/idrl"
)

// Backup writes a consistent copy of the database to the new file path, while
// others read and write, and checks the copy. It makes the folder of path. It
// returns an error of kind Conflict if path exists.
func (db *DB) Backup(ctx context.Context, path string) error {
	// The read pool will not do: query_only forbids the copy as well.
	p, err := sql.Open("sqlite", dsn(filepath.Join(db.dir, FileName), url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(5000)"}}))
	if err != nil {
		return err
	}
	return errors.Join(backup(ctx, p, path), p.Close())
}

func backup(ctx context.Context, p *sql.DB, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil {
		return idrl.Errorf(idrl.Conflict, "the file %s exists; name a new one", path)
	}
	if _, err := p.ExecContext(ctx, `VACUUM INTO ?`, path); err != nil {
		return errors.Join(convert(err), os.RemoveAll(path))
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	c, err := sql.Open("sqlite", dsn(path, url.Values{"mode": {"ro"}}))
	if err != nil {
		return err
	}
	return errors.Join(check(ctx, c, `PRAGMA integrity_check(1)`), c.Close())
}

// check runs a pragma that checks p and returns an error of kind Damaged that names
// the first damage.
func check(ctx context.Context, p *sql.DB, pragma string) error {
	var verdict string
	if err := p.QueryRowContext(ctx, pragma).Scan(&verdict); err != nil {
		return convert(err)
	}
	if verdict != "ok" {
		return idrl.Errorf(idrl.Damaged, "SQLite reports: %s", oneLine(verdict))
	}
	return nil
}

// oneLine returns the verdict of a check of SQLite as one line.
func oneLine(verdict string) string {
	return strings.ReplaceAll(strings.TrimPrefix(verdict, "*** in database main ***\n"), "\n", "; ")
}
