package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// steps returns the migrations with others added.
func steps(t *testing.T, more map[string]string) fs.FS {
	t.Helper()
	out := fstest.MapFS{}
	names, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := fs.ReadFile(migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = &fstest.MapFile{Data: b}
	}
	for name, text := range more {
		out[name] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + text)}
	}
	return out
}

func reopen(t *testing.T, dir string, f fs.FS) error {
	t.Helper()
	db, err := open(t.Context(), dir, f)
	if err != nil {
		return err
	}
	return db.Close()
}

// folder returns a data folder with one session in it.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	Empty.Copy(t, dir)
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	err = db.CreateSession(t.Context(), idrl.SessionSpec{ID: "s"})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func backups(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "backups", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestMigrateMakesABackupFirst(t *testing.T) {
	dir := folder(t)
	if got := backups(t, dir); len(got) != 0 {
		t.Fatalf("a new database was backed up: %v", got)
	}
	next := steps(t, map[string]string{"9000_next.sql": `ALTER TABLE session ADD COLUMN colour TEXT;`})
	for range 2 { // the second time there is nothing to do
		if err := reopen(t, dir, next); err != nil {
			t.Fatal(err)
		}
	}
	paths := backups(t, dir)
	if len(paths) != 1 {
		t.Fatalf("backups: %v, want one", paths)
	}
	restored := t.TempDir()
	if m, _, err := Restore(t.Context(), paths[0], restored, nil); err != nil || m.Database != Format() {
		t.Fatalf("restored format %d, %v", m.Database, err)
	}
	db, err := Open(t.Context(), restored)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Spec(t.Context(), "s"); err != nil {
		t.Errorf("the backup lacks the session: %v", err)
	}
}

// Backups that were interrupted are removed at a start, also those of earlier versions, and of whole ones the newest stay.
func TestBackupsArePruned(t *testing.T) {
	dir := folder(t)
	made := filepath.Join(dir, backupFolder)
	if err := os.MkdirAll(made, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"v5-20260101T000000.000000000Z.db": "whole", "v9-20260201T000000.000000000Z.db": "whole", "v10-20260301T000000.000000000Z.tar": "whole",
		"v11-20260302T000000.000000000Z.db": "part", "v11-20260302T000000.000000000Z.db-journal": "x", "v11-20260303T000000.000000000Z.db": "",
		"v12-20260304T000000.000000000Z.db.partial-7": "part", "v12-20260304T000000.000000000Z.db.partial-7-journal": "x", "mine.db": "of the operator",
	} {
		if err := os.WriteFile(filepath.Join(made, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := reopen(t, dir, steps(t, map[string]string{"9000_next.sql": `ALTER TABLE session ADD COLUMN colour TEXT;`})); err != nil {
		t.Fatal(err)
	}
	got := backups(t, dir)
	for i, path := range got {
		got[i] = filepath.Base(path)
	}
	slices.Sort(got)
	if len(got) != 4 || got[0] != "mine.db" || got[1] != "v10-20260301T000000.000000000Z.tar" || !ownBackup.MatchString(got[2]) || got[3] != "v9-20260201T000000.000000000Z.db" {
		t.Errorf("backups: %q; want the operator's, the new one and the two newest of the others", got)
	}
}

// A backup that cannot be written leaves nothing.
func TestFailedBackupLeavesNothing(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	p, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := backup(ctx, p, dir, path, false); err == nil {
		t.Error("no error")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	dir := folder(t)
	bad := steps(t, map[string]string{"9000_bad.sql": `CREATE TABLE half (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1);`})
	if err := reopen(t, dir, bad); err == nil {
		t.Fatal("no error")
	}
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.read.QueryRow(`SELECT count(*) FROM sqlite_schema WHERE name = 'half'`).Scan(&n); err != nil || n != 0 {
		t.Errorf("half a migration stayed: %d, %v", n, err)
	}
}

func TestNewerFormatIsRefusedUntouched(t *testing.T) {
	dir := folder(t)
	if err := reopen(t, dir, steps(t, map[string]string{"9000_next.sql": `CREATE TABLE future (x INTEGER) STRICT;`})); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, FileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(context.Context, string) (*DB, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
		_, err := open(t.Context(), dir)
		if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "newer tiebreak, or restore the backup in "+filepath.Join(dir, "backups")) {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the refusal changed the file (%v)", err)
	}
}

func TestOlderFormatIsNotReadAsItIs(t *testing.T) {
	dir := folder(t)
	p, err := openPool(t.Context(), filepath.Join(dir, FileName), true)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	err = checkMatches(t.Context(), p, dir, steps(t, map[string]string{"9000_next.sql": `SELECT 1;`}))
	if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "older version") {
		t.Errorf("error = %v", err)
	}
}

func TestQueueIsBounded(t *testing.T) {
	db := newDB(&file{requests: make(chan *request, 2)}) // no writer takes requests from it
	for k := range 3 {
		err := db.submit(&request{})
		if full := idrl.KindOf(err) == idrl.Unavailable; full != (k == 2) {
			t.Errorf("request %d: %v", k, err)
		}
	}
}

func TestFullDiskLosesNothing(t *testing.T) {
	dir := folder(t)
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	limit := func(pages string) {
		t.Helper()
		err := db.do(t.Context(), func(t *tx) error {
			var n int
			return t.row(`PRAGMA max_page_count = ` + pages).Scan(&n)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // the least is what is in use
	big := strings.Repeat("x", 1<<20)
	if err := db.SetMeta(t.Context(), "big", big); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("error = %v", err)
	}
	if _, err := db.Spec(t.Context(), "s"); err != nil {
		t.Errorf("earlier rows: %v", err)
	}
	limit("1000000")
	if err := db.SetMeta(t.Context(), "big", big); err != nil {
		t.Errorf("after space was made: %v", err)
	}
}

// insertAnswer adds an answer as version 1 of the format has it.
const insertAnswer = `
	INSERT INTO answer (session_id, seq, id, query_id, annotator_id, choice, rating, reason, left_side, shown_at, answered_at,
		received_at, response_ms, hidden_ms, loops, input, instructions, late)
	VALUES ('s', 1, 'a', '', 'a1', 'a', 0, '', 'a', '2026-01-02T03:04:05.000000000Z', '2026-01-02T03:04:05.000000000Z',
		'2026-01-02T03:04:05.000000000Z', 0, 0, 0, '', 1, 0)`

// earlierSession records session s in a database of any format, without a row of the audit trail, which had other columns.
func earlierSession(ctx context.Context, db *DB) error {
	spec, err := json.Marshal(idrl.SessionSpec{ID: "s"})
	if err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO session (id, created_at, spec) VALUES ('s', '2026-01-02T03:04:05.000000000Z', ?)`, string(spec))
		return err
	})
}

// TestFirstFormatGoesOn: a folder of version 1 opens, its answers without
// doubts, and its annotators can be given keys.
func TestFirstFormatGoesOn(t *testing.T) {
	dir := t.TempDir()
	first, err := fs.ReadFile(migrations(), "0001_init.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := open(t.Context(), dir, fstest.MapFS{"0001_init.sql": &fstest.MapFile{Data: first}})
	if err != nil {
		t.Fatal(err)
	}
	err = earlierSession(t.Context(), db)
	joined := db.do(t.Context(), func(t *tx) error {
		_, err := t.exec(`INSERT INTO annotator (session_id, id, name, created_at) VALUES ('s', 'a1', '', '2026-01-02T03:04:05.000000000Z')`)
		return err
	})
	answered := db.do(t.Context(), func(t *tx) error { _, err := t.exec(insertAnswer); return err })
	if err := errors.Join(err, joined, answered, db.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rec, err := db.Load(t.Context(), "s")
	if err != nil || len(rec.Log) != 1 || rec.Log[0].ID != "a" || rec.Log[0].Doubts != 0 {
		t.Errorf("the log is %+v, %v", rec.Log, err)
	}
	key := make([]byte, 32)
	if err := db.AddRejoinKey(t.Context(), key, identity.RejoinKey{Session: "s", Annotator: "a1", Since: time.Now(), UsedAt: time.Now()}, 1); err != nil {
		t.Errorf("a key for the annotator of then: %v", err)
	}
	if k, err := db.RejoinKey(t.Context(), key); err != nil || k.Annotator != "a1" {
		t.Errorf("the key is of %q, %v", k.Annotator, err)
	}
}

func TestLogIsAppendOnly(t *testing.T) {
	db, err := Open(t.Context(), folder(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(query string) error {
		return db.do(t.Context(), func(t *tx) error { _, err := t.exec(query); return err })
	}
	if _, err := db.CreateAnnotator(t.Context(), "s", ""); err != nil { // leaves rows in audit
		t.Fatal(err)
	}
	if err := run(insertAnswer); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{
		`UPDATE answer SET choice = 'b'`, `DELETE FROM answer`, `UPDATE audit SET actor = 'me'`, `DELETE FROM audit`,
	} {
		if err := run(change); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", change, err)
		}
	}
}

func TestSound(t *testing.T) {
	for version, want := range map[string]bool{
		"3.51.2": false, "3.51.3": true, "3.54.1": true, "4.0.0": true, "3.7.17": false, "": false, "3.x": false,
	} {
		if got := sound(version); got != want {
			t.Errorf("sound(%q) = %t", version, got)
		}
	}
}

// The driver must be built with the very libc it was made for.
func TestLibcIsTheDriversOwn(t *testing.T) {
	list := func(format, module string) string {
		t.Helper()
		out, err := exec.Command("go", "list", "-m", "-f", format, module).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	mod, err := os.ReadFile(list("{{.GoMod}}", "modernc.org/sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`modernc\.org/libc (\S+)`).FindSubmatch(mod)
	if got := list("{{.Version}}", "modernc.org/libc"); want == nil || got != string(want[1]) {
		t.Errorf("libc %s, but the driver was made for %s", got, want)
	}
}

func TestConvert(t *testing.T) {
	for _, test := range []struct {
		err  error
		kind idrl.Kind
	}{
		{sql.ErrNoRows, idrl.NotFound},
		{fmt.Errorf("wrapped: %w", sql.ErrNoRows), idrl.NotFound},
		{idrl.Errorf(idrl.Forbidden, "no"), idrl.Forbidden},
		{context.Canceled, idrl.Internal},
	} {
		if got := idrl.KindOf(convert(test.err)); got != test.kind {
			t.Errorf("kind of %v is %d, want %d", test.err, got, test.kind)
		}
	}
}

// TestMigrationOfPeople: a folder of version 1 keeps its links and annotators.
func TestMigrationOfPeople(t *testing.T) {
	dir := t.TempDir()
	first, err := fs.ReadFile(migrations(), "0001_init.sql")
	if err != nil {
		t.Fatal(err)
	}
	old, err := open(t.Context(), dir, fstest.MapFS{"0001_init.sql": {Data: first}})
	if err != nil {
		t.Fatal(err)
	}
	now := encodeTime(time.Now())
	for _, query := range []string{
		`INSERT INTO session VALUES ('s', '` + now + `', '{"ID":"s","Budget":9}')`,
		`INSERT INTO user VALUES ('grace', '` + now + `')`,
		`INSERT INTO invitation VALUES (zeroblob(32), 'grace', NULL, 0, '` + now + `', '` + now + `')`,
		`INSERT INTO invitation VALUES (randomblob(32), NULL, 's', 98, '` + now + `', '` + now + `')`,
		`INSERT INTO annotator VALUES ('s', 'a1', 'Bo', '` + now + `')`,
	} {
		if err := old.do(t.Context(), func(tx *tx) error { _, err := tx.exec(query); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if in, err := db.SignedIn(t.Context()); !in || err != nil {
		t.Errorf("signed in: %v, %v", in, err)
	}
	links, err := db.Invitations(t.Context(), "s")
	if err != nil || len(links) != 1 || links[0].ID != 2 || links[0].UsesLeft != 98 || links[0].Uses != 0 {
		t.Errorf("links: %+v, %v", links, err)
	}
	people, err := db.Annotators(t.Context(), "s")
	if err != nil || len(people) != 1 || people[0].Name != "Bo" || people[0].LeftOut || !people[0].RevokedAt.IsZero() {
		t.Errorf("annotators: %+v, %v", people, err)
	}
	if s, err := db.Settings(t.Context(), "s"); s.Budget != 9 || err != nil {
		t.Errorf("settings: %+v, %v", s, err)
	}
}

// Of writes that are carried out together, without savepoints, one that fails leaves nothing, and the
// others are recorded once: they are carried out again.
func TestOneThatFailsHarmsNoOthers(t *testing.T) {
	db, err := Open(t.Context(), folder(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	refused, runs, group := errors.New("refused"), map[string]int{}, []*request{}
	if err := db.doBare(func(*sql.Conn) error { // the writer finds them all at once
		for _, key := range []string{"before", "fails", "after"} {
			r := &request{ctx: t.Context(), repeats: true, done: make(chan struct{}), do: func(tx *tx) error {
				runs[key]++
				if _, err := tx.exec(`INSERT INTO meta (key, value) VALUES (?, '')`, key); err != nil || key != "fails" {
					return err
				}
				return refused
			}}
			if err := db.submit(r); err != nil {
				return err
			}
			group = append(group, r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, r := range group {
		<-r.done
	}
	if group[0].err != nil || !errors.Is(group[1].err, refused) || group[2].err != nil {
		t.Errorf("errors %v, %v, %v; want that of the second", group[0].err, group[1].err, group[2].err)
	}
	if runs["before"] != 2 || runs["fails"] != 2 || runs["after"] != 1 {
		t.Errorf("runs %v; want the group stopped at the one that failed, and all carried out again", runs)
	}
	var keys string
	if err := db.read.QueryRow(`SELECT group_concat(key, ' ' ORDER BY key) FROM meta WHERE key IN ('before', 'fails', 'after')`).Scan(&keys); err != nil || keys != "after before" {
		t.Errorf("recorded: %q, %v", keys, err)
	}
}
