package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Records are the data from which a session is made again: the result of Reading.Records.
type Records interface {
	// Session returns the id that the session had.
	Session() idrl.SessionID
	// Schema returns the version of the tables of the records.
	Schema() int64
	// Has reports whether there are records of a table.
	Has(table string) bool
	// Records calls yield with the rows of a table in their order. yield keeps the values.
	Records(t record.RecordTable, yield func([]any) error) error
}

// besideLimit is the longest time for which a command may write while a server runs: longer would
// delay answers.
const besideLimit = 2 * time.Second

// ImportSession records a session from its records, under id, completely or not at all: the answers,
// the posterior, the open questions, everything that a copy contains. Of annotators it has only the
// pseudonyms, with which nobody can sign in; a new annotator gets the next pseudonym. is checks
// clips and raw steps. dir is a folder for a database in which the session is made first and
// brought to the version of this program.
//
// It returns an error of kind Conflict if there is a session id, or the session is large and a
// server uses the data folder, and of kind Invalid if the records are of a newer version, lack
// something, contradict themselves, or contain clips or steps with wrong names.
func (db *upkeep) ImportSession(ctx context.Context, from Records, id idrl.SessionID, is Judge, dir, actor string) (spec idrl.SessionSpec, err error) {
	if v := from.Schema(); v > Format() {
		return spec, idrl.Errorf(idrl.Invalid, "import-newer: the records are of a newer version of tiebreak (format %d, this one knows up to %d): use a newer tiebreak", v, Format())
	}
	if !sessionName.MatchString(string(id)) {
		return spec, idrl.Errorf(idrl.Invalid, "import-meta: %q cannot be the id of a session: use letters, digits, - and _, at most 64", id)
	}
	if err := db.unused(ctx, id); err != nil { // before the work; and again with the copy
		return spec, err
	}
	made, err := rebuild(ctx, from, id, filepath.Join(dir, FileName))
	if err != nil {
		return spec, err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	return db.take(ctx, made, id, is, actor, from.Session())
}

// ImportMade records session id, the only one in made, as ImportSession does from records, but with
// the names of its annotators. made is a database of this version.
func (db *upkeep) ImportMade(ctx context.Context, made *DB, id idrl.SessionID, is Judge, actor string) (spec idrl.SessionSpec, err error) {
	if err := db.unused(ctx, id); err != nil {
		return spec, err
	}
	err = made.snapshot(ctx, func(from querier) error {
		spec, err = db.take(ctx, from, id, is, actor, id)
		return err
	})
	return spec, err
}

// take records the only session of made, with the id was there, after checking it.
func (db *upkeep) take(ctx context.Context, made querier, id idrl.SessionID, is Judge, actor string, was idrl.SessionID) (idrl.SessionSpec, error) {
	spec, err := checkImported(ctx, made, id, is)
	if err != nil {
		return spec, err
	}
	began := time.Now()
	return spec, db.do(ctx, func(t *tx) error {
		if err := t.copyRecords(ctx, made, func() error {
			if db.lock == nil && time.Since(began) > besideLimit {
				return idrl.Errorf(idrl.Conflict, "import-busy: the session is too large to be recorded while a server uses the data folder, because its answers would be delayed: stop the server first; nothing was changed")
			}
			return ctx.Err()
		}); errors.As(err, new(*idrl.Error)) {
			return err // of goOn
		} else if err != nil {
			return taken(err, "import-taken: a session %s exists already; give the copy another id", id)
		}
		return t.audit(time.Now(), id, actor, "import session", string(was))
	})
}

// sessionName matches ids of sessions, which are used in addresses.
var sessionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// unused returns an error of kind Conflict if there is a session id.
func (db *upkeep) unused(ctx context.Context, id idrl.SessionID) error {
	_, err := (studies{db.file}).Spec(ctx, id)
	switch {
	case err == nil:
		return idrl.Errorf(idrl.Conflict, "import-taken: a session %s exists already; give the copy another id", id)
	case idrl.KindOf(err) == idrl.NotFound:
		return nil
	}
	return err
}

// rebuild makes a database at path with the session alone, in the version of this program. The
// caller closes it.
func rebuild(ctx context.Context, from Records, id idrl.SessionID, path string) (_ *sql.DB, err error) {
	p, err := sql.Open("sqlite", dsn(path, map[string][]string{"_pragma": {"foreign_keys(1)", "trusted_schema(0)", "synchronous(OFF)", "journal_mode(MEMORY)"}}))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	p.SetMaxOpenConns(1)
	g, err := goose.NewProvider(goose.DialectSQLite3, p, migrations(), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, err
	}
	if _, err := g.UpTo(ctx, from.Schema()); err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "import-meta: tables of version %d cannot be made: %v", from.Schema(), err)
	}
	if err := fillRecords(ctx, p, from, id); err != nil {
		return nil, err
	}
	if _, err := g.Up(ctx); err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "import-table: the records cannot be brought from version %d to %d: %v", from.Schema(), Format(), err)
	}
	return p, nil
}

// fillRecords inserts the records in the tables of p, under id.
func fillRecords(ctx context.Context, p *sql.DB, from Records, id idrl.SessionID) error {
	tx, err := p.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect after Commit
	for _, r := range recorded {
		t, err := columns(ctx, tx, r.name)
		if err != nil {
			return err
		}
		if len(t.Columns) == 0 { // younger than the records
			continue
		}
		if !from.Has(t.Name) {
			return idrl.Errorf(idrl.Invalid, "import-missing: there are no records of %s", t.Name)
		}
		if err := fillTable(ctx, tx, from, t, id); err != nil {
			return err
		}
	}
	return convert(tx.Commit())
}

// fillTable inserts the records of one table.
func fillTable(ctx context.Context, tx *sql.Tx, from Records, t record.RecordTable, id idrl.SessionID) error {
	insert, err := tx.PrepareContext(ctx, insertText(t)) //nolint:sqlclosecheck // closed below
	if err != nil {
		return convert(err)
	}
	defer insert.Close()
	of := slices.IndexFunc(t.Columns, func(c record.RecordColumn) bool { return c.Name == "session_id" })
	if t.Name == "session" {
		of = slices.IndexFunc(t.Columns, func(c record.RecordColumn) bool { return c.Name == "id" })
	}
	n := 0
	err = from.Records(t, func(values []any) error {
		if n++; t.Name == "session" && n > 1 {
			return idrl.Errorf(idrl.Invalid, "import-table: there is more than one session")
		}
		if values[of] != any(string(from.Session())) {
			return idrl.Errorf(idrl.Invalid, "import-table: row %d of %s is of session %v, not of %s", n, t.Name, values[of], from.Session())
		}
		values[of] = string(id)
		if err := renamed(t, values, id); err != nil {
			return err
		}
		if err := finite(t, values); err != nil {
			return fmt.Errorf("%w in row %d", err, n)
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return idrl.Errorf(idrl.Invalid, "import-table: row %d of %s does not fit: %v", n, t.Name, convert(err))
		}
		return nil
	})
	if err == nil && t.Name == "session" && n == 0 {
		err = idrl.Errorf(idrl.Invalid, "import-table: there is no session in the records")
	}
	return err
}

// renamed changes the id in the settings of a session, if the values are its row.
func renamed(t record.RecordTable, values []any, id idrl.SessionID) error {
	i := slices.IndexFunc(t.Columns, func(c record.RecordColumn) bool { return c.Name == "spec" })
	if t.Name != "session" || i < 0 {
		return nil
	}
	text, ok := values[i].(string)
	spec := idrl.RecordedEarlier()
	if err := json.Unmarshal([]byte(text), &spec); !ok || err != nil {
		return idrl.Errorf(idrl.Invalid, "import-table: the settings of the session are not valid: %v", err)
	}
	if spec.ID == id { // byte for byte as before
		return nil
	}
	spec.ID = id
	b, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	values[i] = string(b)
	return nil
}

// vectors are the columns of numbers, by table: little-endian float64.
var vectors = map[string][]string{"clip": {"phi"}, "policy": {"params", "theta", "mu", "mus"}, "pool": {"mu"}, "posterior": {"mean", "foretold"}, "generation": {"cov"}}

// finite returns an error of kind Invalid if a vector among the values is malformed, or contains a
// number that is not finite.
func finite(t record.RecordTable, values []any) error {
	for i, c := range t.Columns {
		if !slices.Contains(vectors[t.Name], c.Name) || values[i] == nil {
			continue
		}
		var v []float64
		if err := (vectorColumn{&v}).Scan(values[i]); err != nil {
			return idrl.Errorf(idrl.Invalid, "import-table: %s of %s: %v", c.Name, t.Name, err)
		}
		if slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			return idrl.Errorf(idrl.Invalid, "import-table: %s of %s holds a number that is not finite", c.Name, t.Name)
		}
	}
	return nil
}

// checkImported returns the settings of the session in p, or an error of kind Invalid if it cannot
// be read like a session, or clips or steps have wrong names.
func checkImported(ctx context.Context, p querier, id idrl.SessionID, is Judge) (spec idrl.SessionSpec, err error) {
	if spec, err = readSpec(ctx, p, id); err == nil {
		_, err = (&Reading{p, spec}).Load(ctx)
	}
	if err != nil {
		return spec, idrl.Errorf(idrl.Invalid, "import-table: the records are not those of a session: %v", err)
	}
	err = eachClips(ctx, p, func(batch []clipRow) error {
		for _, r := range batch {
			if r.sum != nil && !matches(r.clip.Media, r.sum) {
				return idrl.Errorf(idrl.Invalid, "import-clip: clip %s is not what was recorded: its checksum differs", r.clip.ID)
			}
			if is.Clip == nil {
				continue
			}
			if err := is.Clip(r.clip); err != nil {
				return idrl.Errorf(idrl.Invalid, "import-clip: clip %s cannot be shown: %v", r.clip.ID, err)
			}
		}
		return nil
	})
	if err != nil || is.Steps == nil {
		return spec, err
	}
	var wrong error
	err = eachSteps(ctx, p, func(_ idrl.SessionID, name idrl.StepsID, content []byte) {
		if err := is.Steps(name, content); err != nil && wrong == nil {
			wrong = idrl.Errorf(idrl.Invalid, "import-steps: the raw steps %s are not what was recorded: %v", name, err)
		}
	})
	return spec, errors.Join(err, wrong)
}

// copyRecords copies the session of p. It calls goOn before every few rows.
func (t *tx) copyRecords(ctx context.Context, p querier, goOn func() error) error {
	n := 0
	for _, r := range recorded {
		table, err := columns(ctx, p, r.name)
		if err != nil {
			return err
		}
		insert := insertText(table)
		values, targets := scanned(len(table.Columns))
		err = each(ctx, p, func(row scanner) error {
			if n++; n%256 == 1 {
				if err := goOn(); err != nil {
					return err
				}
			}
			if err := row.Scan(targets...); err != nil {
				return err
			}
			for i, v := range values {
				if b, ok := v.([]byte); ok && b == nil { // an empty blob, which is not NULL
					values[i] = []byte{}
				}
			}
			_, err := t.exec(insert, values...)
			return err
		}, `SELECT `+names(table)+` FROM `+table.Name+` NOT INDEXED ORDER BY rowid`)
		if err != nil {
			return err
		}
	}
	return nil
}

// columns returns the columns of a table; none if there is no such table.
func columns(ctx context.Context, from querier, name string) (record.RecordTable, error) {
	t := record.RecordTable{Name: name}
	err := each(ctx, from, func(row scanner) error {
		var c record.RecordColumn
		err := row.Scan(&c.Name, &c.Type)
		t.Columns = append(t.Columns, c)
		return err
	}, `SELECT name, type FROM pragma_table_info(?) ORDER BY cid`, name)
	return t, err
}

// names returns the names of the columns of t, for a statement.
func names(t record.RecordTable) string {
	var out []string
	for _, c := range t.Columns {
		out = append(out, c.Name)
	}
	return strings.Join(out, ", ")
}

func insertText(t record.RecordTable) string {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.Columns)), ", ")
	return fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, t.Name, names(t), marks)
}

// scanned returns n values and pointers to them for Scan.
func scanned(n int) (values, targets []any) {
	values, targets = make([]any, n), make([]any, n)
	for i := range values {
		targets[i] = &values[i]
	}
	return values, targets
}
