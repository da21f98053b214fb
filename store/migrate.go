package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"tiebreak/internal/idrl"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

func migrations() fs.FS {
	sub, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return sub
}

// Format returns the version of the database that this program writes: the
// number of the last migration.
func Format() int64 {
	names, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		panic(err) // the pattern is well formed
	}
	var last int64
	for _, name := range names {
		v, err := goose.NumericComponent(name)
		if err != nil {
			panic(err) // the files are embedded, and their names are tested
		}
		last = max(last, v)
	}
	return last
}

// migrate brings the database of dir to the last of steps. A database with content is backed up
// before the first new step.
func migrate(ctx context.Context, p *sql.DB, dir string, steps fs.FS) error {
	g, current, target, err := versions(ctx, p, steps)
	if err != nil {
		return err
	}
	if current > target {
		return tooNew(dir, current, target)
	}
	if current > 0 && current < target {
		if err := backUp(ctx, p, dir, current); err != nil {
			return fmt.Errorf("back up before migration to version %d: %w", target, err)
		}
	}
	if _, err := g.Up(ctx); err != nil {
		return fmt.Errorf("migrate from version %d to %d: %w", current, target, convert(err))
	}
	return nil
}

// checkMatches returns an error of kind Invalid unless the database has the
// version that the last of steps leads to.
func checkMatches(ctx context.Context, p *sql.DB, dir string, steps fs.FS) error {
	_, current, target, err := versions(ctx, p, steps)
	switch {
	case err != nil:
		return err
	case current > target:
		return tooNew(dir, current, target)
	case current < target:
		return idrl.Errorf(idrl.Invalid,
			"the data folder %s was written by an older version of tiebreak (format %d, this one reads %d): start the server on it once, which upgrades it",
			dir, current, target)
	}
	return nil
}

// versions returns a provider for steps, the version of the database, and the version after the
// last of steps. It writes nothing.
func versions(ctx context.Context, p *sql.DB, steps fs.FS) (g *goose.Provider, current, target int64, err error) {
	if current, err = version(ctx, p); err != nil {
		return nil, 0, 0, err
	}
	if g, err = goose.NewProvider(goose.DialectSQLite3, p, steps, goose.WithDisableGlobalRegistry(true)); err != nil {
		return nil, 0, 0, err
	}
	sources := g.ListSources()
	return g, current, sources[len(sources)-1].Version, nil
}

func tooNew(dir string, current, target int64) error {
	return idrl.Errorf(idrl.Invalid,
		"the data folder %s was written by a newer version of tiebreak (format %d, this one knows up to %d): use a newer tiebreak, or restore the backup in %s; nothing was changed",
		dir, current, target, filepath.Join(dir, backupFolder))
}

// version returns the last migration applied, 0 for an empty database. It
// writes nothing.
func version(ctx context.Context, p *sql.DB) (int64, error) {
	const table = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'goose_db_version'`
	var one int
	switch err := p.QueryRowContext(ctx, table).Scan(&one); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, convert(err)
	}
	var v int64
	const applied = `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`
	return v, convert(p.QueryRowContext(ctx, applied).Scan(&v))
}
