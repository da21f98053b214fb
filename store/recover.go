package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/store/archive"
	"tiebreak/store/salvage"

	"github.com/pressly/goose/v3"
)

// A Recovery says what Recover found.
type Recovery struct {
	Pages   int            // of the damaged database
	Format  int64          // of the new database
	Assumed bool           // that the damaged one had this format, which could not be read
	Saved   map[string]int // rows by table
	Lost    []string       // what could not be saved, in words
	Forgot  int            // people who had withdrawn
}

// Recover makes the data folder out, which must be new or empty, of what can be read of the database of
// the data folder dir, and of its other files. It goes through the pages of the file itself. Rows on pages that the
// table of contents or a damaged page no longer leads to are tried in each table that may have lost them, and go
// to the one that they fit; where they fit several, they are saved in none, and counted. It changes nothing in
// dir. It returns an error of kind Conflict if a server runs there or out is not empty, and of kind Damaged if nothing can be read.
func Recover(ctx context.Context, dir, out string) (r Recovery, err error) {
	if exists(filepath.Join(dir, lockName)) {
		lock, err := lockFolder(ctx, dir)
		if idrl.KindOf(err) == idrl.Conflict {
			return r, idrl.Errorf(idrl.Conflict, "a tiebreak server is running on the folder %s: stop it first", dir)
		}
		if err == nil {
			defer lock.Close()
		}
	}
	people, err := readForgotten(dir)
	if err != nil && idrl.KindOf(err) != idrl.Damaged {
		return r, err
	}
	err = makeWhole(ctx, out, func(scratch string) error {
		if r, err = recoverDatabase(ctx, dir, scratch); err != nil {
			return err
		}
		others, err := otherFiles(dir, "", 0)
		if err != nil {
			return err
		}
		for _, f := range others {
			if err := copyFile(filepath.Join(dir, filepath.FromSlash(f.Name)), filepath.Join(scratch, filepath.FromSlash(f.Name))); err != nil {
				return err
			}
		}
		return r.forget(ctx, scratch, people)
	})
	return r, err
}

// forget removes people who had withdrawn, of whom old pages may have had rows.
func (r *Recovery) forget(ctx context.Context, dir string, people []archive.Person) (err error) {
	if len(people) == 0 {
		return nil
	}
	if r.Forgot, err = forgetIn(ctx, dir, people); err != nil {
		return fmt.Errorf("remove people who have withdrawn: %w", err)
	}
	return listForgotten(dir, people)
}

// source returns the file at path for package salvage, empty if there is none. The caller must close it.
func source(path string) (salvage.Source, func() error, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return salvage.Source{}, func() error { return nil }, nil
	}
	if err != nil {
		return salvage.Source{}, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return salvage.Source{}, nil, errors.Join(err, f.Close())
	}
	return salvage.Source{From: f, Size: info.Size()}, f.Close, nil
}

// recoverDatabase makes a database in the folder to of that in the folder dir.
func recoverDatabase(ctx context.Context, dir, to string) (r Recovery, err error) {
	db, closeDB, err := source(filepath.Join(dir, FileName))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, closeDB()) }()
	wal, closeLog, err := source(filepath.Join(dir, FileName+"-wal"))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	file := salvage.Open(db, wal)
	trees := file.Trees()
	r = Recovery{Pages: file.Pages(), Saved: map[string]int{}}
	if r.Format = formatOf(file, trees); r.Format == 0 {
		r.Format, r.Assumed = Format(), true
	}
	if r.Format > Format() {
		return r, tooNew(dir, r.Format, Format())
	}
	path := filepath.Join(to, FileName)
	if err := fill(ctx, path, to, upTo(r.Format)); err != nil {
		return r, err
	}
	p, err := openPool(ctx, path, false)
	if err != nil {
		return r, err
	}
	p.SetMaxOpenConns(1)
	err = errors.Join(r.fill(ctx, p, file, trees), p.Close())
	if total := 0; err == nil {
		for _, n := range r.Saved {
			total += n
		}
		if total == 0 {
			err = idrl.Errorf(idrl.Damaged, "no row can be read of the %d pages of %s", r.Pages, filepath.Join(dir, FileName))
		}
	}
	return r, err
}

// formatOf returns the last migration that the database says to have had; 0 if it cannot be read.
func formatOf(file *salvage.File, trees []salvage.Tree) (format int64) {
	for _, t := range trees {
		if t.Name != goose.DefaultTablename {
			continue
		}
		for _, page := range t.Pages {
			_, _ = file.Rows(page, func(r salvage.Row) error { // it returns no error
				if len(r.Values) > 1 {
					if v, ok := r.Values[1].(int64); ok {
						format = max(format, v)
					}
				}
				return nil
			})
		}
	}
	return format
}

// upTo returns the migrations up to a format.
func upTo(format int64) fs.FS { return limited{migrations(), format} }

type limited struct {
	fs.FS
	last int64
}

// Glob implements fs.GlobFS, by which goose lists migrations.
func (l limited) Glob(pattern string) (out []string, err error) {
	names, err := fs.Glob(l.FS, pattern)
	for _, name := range names {
		if v, err := goose.NumericComponent(name); err == nil && v <= l.last {
			out = append(out, name)
		}
	}
	return out, err
}

// fill writes the rows of trees to the new database p, without triggers and references meanwhile, and says what could
// not be saved.
func (r *Recovery) fill(ctx context.Context, p *sql.DB, file *salvage.File, trees []salvage.Tree) error {
	c, err := p.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	tables, err := destinations(ctx, c)
	if err != nil {
		return err
	}
	restore, err := dropTriggers(ctx, c)
	if err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, `PRAGMA foreign_keys = 0; BEGIN IMMEDIATE`); err != nil {
		return convert(err)
	}
	s := &saving{Recovery: r, c: c, file: file, tables: tables}
	if err := errors.Join(s.all(ctx, trees), s.close()); err != nil {
		return err
	}
	if err := r.gaps(ctx, c); err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, restore+`COMMIT; PRAGMA foreign_keys = 1`)
	return convert(err)
}

// dropTriggers removes the triggers, which would refuse or change rows, and returns the statements that make them again.
func dropTriggers(ctx context.Context, c *sql.Conn) (restore string, err error) {
	var drop strings.Builder
	err = each(ctx, c, func(row scanner) error {
		var name, text string
		err := row.Scan(&name, &text)
		fmt.Fprintf(&drop, "DROP TRIGGER %q;", name)
		restore += text + ";\n"
		return err
	}, `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
	if err == nil {
		_, err = c.ExecContext(ctx, drop.String())
	}
	return restore, convert(err)
}

// gaps says which rows of logs are missing, and what refers to rows that are.
func (r *Recovery) gaps(ctx context.Context, c *sql.Conn) error {
	err := each(ctx, c, func(row scanner) error {
		var session string
		var missing, last int64
		err := row.Scan(&session, &missing, &last)
		r.Lost = append(r.Lost, fmt.Sprintf("log of session %s: %d of %d rows up to the last one that is there", session, missing, last))
		return err
	}, `SELECT session_id, max(seq) - count(*), max(seq) FROM answer GROUP BY session_id HAVING max(seq) > count(*) ORDER BY session_id`)
	if err != nil {
		return err
	}
	return each(ctx, c, func(row scanner) error {
		var table, parent string
		var n int
		err := row.Scan(&table, &parent, &n)
		r.Lost = append(r.Lost, fmt.Sprintf("table %s: %d rows refer to rows of table %s that are not there", table, n, parent))
		return err
	}, `SELECT "table", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2`)
}
