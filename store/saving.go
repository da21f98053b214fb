package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tiebreak/store/salvage"

	"github.com/pressly/goose/v3"
)

// A destination is a table of the new database.
type destination struct {
	name    string
	columns []string // in the order in which they are stored
	types   []string // of columns: INTEGER, REAL, TEXT, BLOB or ANY
	rowid   int      // the column that is the rowid; -1 if none is
	without bool     // WITHOUT ROWID
}

// destinations returns the tables of a database, but for those of SQLite and of migrations.
func destinations(ctx context.Context, c *sql.Conn) (out []destination, err error) {
	err = each(ctx, c, func(row scanner) error {
		d := destination{rowid: -1}
		err := row.Scan(&d.name, &d.without)
		out = append(out, d)
		return err
	}, `SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> ? ORDER BY name`, goose.DefaultTablename)
	for i := range out {
		if err == nil {
			err = out[i].readColumns(ctx, c)
		}
	}
	return out, err
}

func (d *destination) readColumns(ctx context.Context, c *sql.Conn) error {
	order := `cid`
	if d.without { // the key comes first
		order = `pk = 0, pk, cid`
	}
	keys := 0
	err := each(ctx, c, func(row scanner) error {
		var name, kind string
		var key int
		if err := row.Scan(&name, &kind, &key); err != nil {
			return err
		}
		if key > 0 {
			keys++
			if !d.without && kind == "INTEGER" {
				d.rowid = len(d.columns)
			}
		}
		d.columns, d.types = append(d.columns, name), append(d.types, kind)
		return nil
	}, `SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden <> 2 ORDER BY `+order, d.name)
	if keys > 1 {
		d.rowid = -1
	}
	return err
}

// insert returns the statement that inserts a row whose first n columns are stored.
func (d destination) insert(n int) string {
	names := make([]string, 0, n+1)
	for _, c := range d.columns[:n] {
		names = append(names, `"`+c+`"`)
	}
	if d.rowid < 0 && !d.without {
		names = append(names, "rowid")
	}
	or := ""
	if d.name == "meta" { // migrations have put rows in it
		or = " OR REPLACE"
	}
	return fmt.Sprintf(`INSERT%s INTO %q (%s) VALUES (?%s)`, or, d.name, strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1))
}

// saving copies rows to the new database.
type saving struct {
	*Recovery
	c      *sql.Conn
	file   *salvage.File
	tables []destination
	stmts  map[string]*sql.Stmt // by text
}

func (s *saving) close() error {
	var errs []error
	for _, stmt := range s.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

func (s *saving) lose(format string, args ...any) {
	s.Lost = append(s.Lost, fmt.Sprintf(format, args...))
}

// all saves the trees of the schema, each in its table, then tries those that nothing leads to.
func (s *saving) all(ctx context.Context, trees []salvage.Tree) error {
	s.stmts = map[string]*sql.Stmt{}
	var open []destination // tables that may have lost pages
	for _, d := range s.tables {
		i := slices.IndexFunc(trees, func(t salvage.Tree) bool { return t.Kind == "table" && t.Name == d.name })
		if i < 0 || trees[i].Broken > 0 {
			open = append(open, d)
		}
		if i < 0 {
			s.lose("table %s: nothing leads to it", d.name)
			continue
		}
		if n := trees[i].Broken; n > 0 {
			s.lose("table %s: damaged pages: %d", d.name, n)
		}
		saved, unfit, err := s.tree(ctx, trees[i], d)
		if err != nil {
			return err
		}
		s.Saved[d.name] += saved
		if unfit > 0 {
			s.lose("table %s: %d rows that cannot be read, or do not fit the table", d.name, unfit)
		}
	}
	for _, t := range trees {
		if t.Kind == "" {
			if err := s.stray(ctx, t, open); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// tree inserts the rows of t into d, and returns how many were inserted and how many were not.
func (s *saving) tree(ctx context.Context, t salvage.Tree, d destination) (saved, unfit int, err error) {
	for _, page := range t.Pages {
		bad, err := s.file.Rows(page, func(r salvage.Row) error {
			if s.insert(ctx, d, r) {
				saved++
			} else {
				unfit++
			}
			return ctx.Err()
		})
		if unfit += bad; err != nil {
			return saved, unfit, err
		}
	}
	return saved, unfit, nil
}

// takes reports whether the values can be of d. SQLite itself would store numbers as text.
func (d destination) takes(values []any) bool {
	if len(values) > len(d.columns) {
		return false
	}
	for i, v := range values {
		ok := v == nil || d.types[i] == "ANY"
		switch v.(type) {
		case int64:
			ok = ok || d.types[i] == "INTEGER" || d.types[i] == "REAL"
		case float64:
			ok = ok || d.types[i] == "REAL"
		case string:
			ok = ok || d.types[i] == "TEXT"
		case []byte:
			ok = ok || d.types[i] == "BLOB"
		}
		if !ok {
			return false
		}
	}
	return true
}

// insert reports whether r could be inserted into d.
func (s *saving) insert(ctx context.Context, d destination, r salvage.Row) bool {
	if !d.takes(r.Values) {
		return false
	}
	values := slices.Clone(r.Values)
	switch {
	case d.without:
	case d.rowid < 0:
		values = append(values, r.ID)
	case d.rowid >= len(values) || values[d.rowid] != nil:
		return false
	default:
		values[d.rowid] = r.ID
	}
	query := d.insert(len(r.Values))
	stmt := s.stmts[query]
	if stmt == nil {
		var err error
		if stmt, err = s.c.PrepareContext(ctx, query); err != nil {
			return false
		}
		s.stmts[query] = stmt
	}
	_, err := stmt.ExecContext(ctx, values...)
	return err == nil
}

// stray saves the rows of a tree that nothing leads to: in the one of the tables that they fit. All rows of a tree are of
// one table, so that the table that most of them fit is the right one, and of these one whose rows have all columns.
func (s *saving) stray(ctx context.Context, t salvage.Tree, tables []destination) error {
	rows, whole := 0, map[int]int{} // by the number of values
	for _, page := range t.Pages {
		_, _ = s.file.Rows(page, func(r salvage.Row) error { // it returns no error
			rows++
			whole[len(r.Values)]++
			return nil
		})
	}
	type fit struct{ saved, whole int }
	var best fit
	var fits []destination
	for _, d := range tables {
		if d.without != t.Index || rows == 0 {
			continue
		}
		if _, err := s.c.ExecContext(ctx, `SAVEPOINT stray`); err != nil {
			return err
		}
		saved, _, err := s.tree(ctx, t, d)
		if _, undone := s.c.ExecContext(ctx, `ROLLBACK TO stray; RELEASE stray`); err != nil || undone != nil {
			return errors.Join(err, undone)
		}
		switch now := (fit{saved, whole[len(d.columns)]}); {
		case saved == 0 || now.saved < best.saved || now.saved == best.saved && now.whole < best.whole:
		case now == best:
			fits = append(fits, d)
		default:
			best, fits = now, []destination{d}
		}
	}
	return s.keep(ctx, t, fits, rows)
}

// keep saves the rows of a tree in the table that they fit, if it is one.
func (s *saving) keep(ctx context.Context, t salvage.Tree, fits []destination, rows int) error {
	if len(fits) > 1 {
		names := make([]string, len(fits))
		for i, d := range fits {
			names[i] = d.name
		}
		s.lose("%d rows of which nothing says whether they are of table %s", rows, strings.Join(names, " or "))
	}
	if len(fits) != 1 {
		return nil // of an index, or of the schema
	}
	saved, unfit, err := s.tree(ctx, t, fits[0])
	s.Saved[fits[0].name] += saved
	if unfit > 0 {
		s.lose("table %s: %d rows that cannot be read, or do not fit the table", fits[0].name, unfit)
	}
	return err
}
