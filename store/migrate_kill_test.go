package store

import (
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
)

// photographed is called by the SQL function photograph, which migrations call between their statements in
// TestMigrationsSurviveKill.
var photographed = func(string) error { return nil }

func init() {
	sqlite.MustRegisterScalarFunction("photograph", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		return nil, photographed(fmt.Sprint(args[0]))
	})
}

// withPhotographs returns the migrations with a photograph before the first and after each statement, and how many there
// are.
func withPhotographs(t *testing.T) (out fstest.MapFS, n int) {
	t.Helper()
	out = fstest.MapFS{}
	names, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := fs.ReadFile(migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		block, k := false, 0
		photograph := func() {
			fmt.Fprintf(&text, "SELECT photograph('%s-%03d');\n", strings.TrimSuffix(name, ".sql"), k)
			k, n = k+1, n+1
		}
		for line := range strings.Lines(string(b)) {
			text.WriteString(strings.TrimRight(line, "\n") + "\n")
			code, _, _ := strings.Cut(line, "--")
			switch {
			case strings.Contains(line, "+goose Down"):
				t.Fatalf("%s has a way back, which this test does not know", name)
			case strings.Contains(line, "+goose Up"):
				photograph()
			case strings.Contains(line, "+goose StatementBegin"):
				block = true
			case strings.Contains(line, "+goose StatementEnd"):
				block = false
				photograph()
			case !block && strings.HasSuffix(strings.TrimSpace(code), ";"):
				photograph()
			}
		}
		out[name] = &fstest.MapFile{Data: []byte(text.String())}
	}
	return out, n
}

// schemaOf returns the version, the schema and the people of a database file that no process writes.
func schemaOf(t *testing.T, path string) (v int64, schema, people string) {
	t.Helper()
	p, err := sql.Open("sqlite", dsn(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if v, err = version(t.Context(), p); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	const all = `SELECT coalesce(group_concat(text, char(10)), '') FROM (SELECT type || name || coalesce(sql, '') AS text FROM sqlite_schema ORDER BY type, name)`
	if err := p.QueryRowContext(t.Context(), all).Scan(&schema); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if v > 0 {
		const query = `SELECT (SELECT coalesce(group_concat(session_id || id || name, ' ' ORDER BY id), '') FROM annotator) || (SELECT count(*) FROM session) || (SELECT count(*) FROM invitation)`
		if err := p.QueryRowContext(t.Context(), query).Scan(&people); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return v, schema, people
}

// formats returns the schema of every version, each brought there from the one before, and the migrated folder.
func formats(t *testing.T, path string) map[int64]string {
	t.Helper()
	p, err := openPool(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.SetMaxOpenConns(1)
	out := map[int64]string{}
	g, err := goose.NewProvider(goose.DialectSQLite3, p, migrations(), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	for range g.ListSources() {
		if _, err := g.UpByOne(t.Context()); err != nil {
			t.Fatal(err)
		}
		v, schema, _ := schemaOf(t, path)
		out[v] = schema
	}
	return out
}

// folderOfFormat1 returns a folder of the first format, with people in it.
func folderOfFormat1(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	old, err := open(t.Context(), dir, upTo(1))
	if err != nil {
		t.Fatal(err)
	}
	now := encodeTime(time.Now())
	for _, query := range []string{
		`INSERT INTO session VALUES ('s', '` + now + `', '{"ID":"s","Budget":9}')`,
		`INSERT INTO user VALUES ('grace', '` + now + `')`,
		`INSERT INTO invitation VALUES (zeroblob(32), 'grace', NULL, 0, '` + now + `', '` + now + `')`,
		`INSERT INTO invitation VALUES (randomblob(32), NULL, 's', 98, '` + now + `', '` + now + `')`,
		`INSERT INTO annotator VALUES ('s', 'a1', 'Bo', '` + now + `'), ('s', 'a2', 'Cy', '` + now + `')`,
	} {
		if err := old.do(t.Context(), func(tx *tx) error { _, err := tx.exec(query); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestMigrationsSurviveKill: a server that is killed between any two statements of any migration, or while one is written to
// the disk, has left the database of one of the versions with all its rows, never something between; and the next start brings it to the
// present version.
func TestMigrationsSurviveKill(t *testing.T) {
	want := formats(t, filepath.Join(t.TempDir(), FileName))
	dir, album := folderOfFormat1(t), t.TempDir()
	all, n := withPhotographs(t)
	all["0001_init.sql"].Data, _ = fs.ReadFile(migrations(), "0001_init.sql") // it has been applied
	var taken []string
	photographed = func(name string) error { // as a kill leaves the files
		into := filepath.Join(album, name)
		taken = append(taken, into)
		return errors.Join(os.Mkdir(into, 0o700), copyFile(filepath.Join(dir, FileName), filepath.Join(into, FileName)), copyFile(filepath.Join(dir, FileName+"-wal"), filepath.Join(into, FileName+"-wal")))
	}
	db, err := open(t.Context(), dir, all)
	photographed = func(string) error { return nil }
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, FileName+"-wal"))
	if err := errors.Join(err, copyFile(filepath.Join(dir, FileName), filepath.Join(album, "base")), db.Close()); err != nil {
		t.Fatal(err)
	}
	if len(taken) < n/2 || len(taken) < 100 {
		t.Fatalf("%d photographs, want nearly %d", len(taken), n)
	}
	const frame = 24 + 4096
	for k := 0; 32+k*frame <= len(log); k += 1 + len(log)/frame/60 { // killed while it writes frame k+1
		into := filepath.Join(album, fmt.Sprintf("frame-%04d", k))
		part := log[:32+k*frame+min(frame/2, len(log)-32-k*frame)]
		if err := errors.Join(os.Mkdir(into, 0o700), copyFile(filepath.Join(album, "base"), filepath.Join(into, FileName)), os.WriteFile(filepath.Join(into, FileName+"-wal"), part, 0o600)); err != nil {
			t.Fatal(err)
		}
		taken = append(taken, into)
	}
	if binary.BigEndian.Uint32(log)&^1 != 0x377f0682 {
		t.Fatal("this is no write-ahead log")
	}
	t.Logf("%d photographs, %d frames", len(taken), len(log)/frame)
	const people = "sa1Bo sa2Cy12"
	seen := map[int64]bool{}
	for i, path := range taken {
		v, schema, who := schemaOf(t, filepath.Join(path, FileName))
		if who != people || schema != want[v] {
			t.Errorf("%s: version %d with %q; its schema is that of the version: %v", filepath.Base(path), v, who, schema == want[v])
		}
		if seen[v] && i%20 > 0 {
			continue
		}
		seen[v] = true
		db, err := open(t.Context(), path, migrations())
		if err != nil {
			t.Errorf("%s, version %d: %v", filepath.Base(path), v, err)
			continue
		}
		d, err := db.Check(t.Context(), Judge{})
		if err := errors.Join(err, db.Close()); err != nil || !d.None() {
			t.Errorf("%s: damage %+v, %v", filepath.Base(path), d, err)
		}
		if v, schema, who := schemaOf(t, filepath.Join(path, FileName)); v != Format() || schema != want[v] || who != people {
			t.Errorf("%s was brought to version %d with %q", filepath.Base(path), v, who)
		}
	}
	if len(seen) < len(want)-1 {
		t.Errorf("%d of %d versions were seen", len(seen), len(want))
	}
}
