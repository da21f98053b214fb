package store

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
)

// trail makes a data folder with six rows of the audit trail: four of Ada and the server, and two of annotator a1.
func trail(t *testing.T) (dir string, db *DB) {
	t.Helper()
	dir = t.TempDir()
	Empty.Copy(t, dir)
	db = must.Get(Open(t.Context(), dir))(t)
	t.Cleanup(func() { _ = db.Close() })
	fillTrail(t, db)
	return dir, db
}

func fillTrail(t *testing.T, db *DB) {
	t.Helper()
	ctx := t.Context()
	must.Do(t, db.CreateSession(ctx, idrl.SessionSpec{ID: "s"}))
	must.Get(db.CreateAnnotator(ctx, "s", "Eve"))(t)
	for _, act := range [][2]string{{"a1", "sign in"}, {"Ada", "cancel training"}, {"a1", "answer"}, {"Ada", "invite"}} {
		must.Do(t, db.Audit(ctx, "s", act[0], act[1], "link 1", time.Now()))
	}
}

// tamper changes the database as somebody does who has the file.
func tamper(t *testing.T, dir string, statements ...string) {
	t.Helper()
	p := must.Get(sql.Open("sqlite", filepath.Join(dir, FileName)))(t)
	defer p.Close()
	for _, s := range statements {
		if _, err := p.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// The trail of a sound folder fits, also after restarts, failed writes, writes of a second process, and a withdrawal.
func TestAuditTrailFits(t *testing.T) {
	dir, db := trail(t)
	beside, err := OpenBeside(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	for range 3 {
		for _, d := range []*DB{db, beside} {
			must.Do(t, d.Audit(t.Context(), "s", "Ada", "invite", "", time.Now()))
		}
		_ = db.do(t.Context(), func(t *tx) error {
			_ = t.audit(time.Now(), "s", "Ada", "undone", "")
			return os.ErrInvalid
		})
	}
	c, err := db.VerifyAudit(t.Context(), record.AuditHead{})
	if err != nil || c.Rows != 12 || c.Head.Position != 12 || c.Erased != 0 || c.Waiting != 0 {
		t.Fatalf("%+v, %v; want 12 rows", c, err)
	}
	must.Get(db.Withdraw(t.Context(), "s", "a1", "a1", time.Now()))(t)
	kept := c.Head
	c, err = db.VerifyAudit(t.Context(), kept)
	if err != nil || c.Rows != 13 || c.Erased != 3 {
		t.Errorf("after a withdrawal: %+v, %v; want 13 rows, 3 of them erased", c, err)
	}
	var salts int
	if err := db.read.QueryRowContext(t.Context(), `SELECT count(*) FROM audit WHERE actor = '' AND object = '' AND length(salt) > 0`).Scan(&salts); err != nil || salts != 0 {
		t.Errorf("%d erased rows keep their salt (%v)", salts, err)
	}
}

// Whatever somebody with the file changes is found, with the first row that does not fit.
func TestAuditTrailShowsChanges(t *testing.T) {
	const off = `DROP TRIGGER audit_update; DROP TRIGGER audit_delete`
	for what, test := range map[string]struct{ change, says string }{
		"an actor":                 {`UPDATE audit SET actor = 'Bob' WHERE id = 4`, "row 4 "},
		"an object":                {`UPDATE audit SET object = 'link 2' WHERE id = 4`, "row 4 "},
		"an action":                {`UPDATE audit SET action = 'rename' WHERE id = 4`, "row 4 "},
		"a time":                   {`UPDATE audit SET at = '2026-01-01T00:00:00.000000000Z' WHERE id = 4`, "row 4 "},
		"a session":                {`UPDATE audit SET session_id = 'other' WHERE id = 4`, "row 4 "},
		"a removed row":            {`DELETE FROM audit WHERE id = 4`, "row 5 "},
		"an inserted row":          {`UPDATE audit SET id = id + 1 WHERE id = 6; INSERT INTO audit SELECT 6, at, session_id, actor, action, object, salt, actor_sum, object_sum, hash FROM audit WHERE id = 4`, "row 6 "},
		"an emptied row":           {`UPDATE audit SET actor = '', object = '', salt = x'' WHERE id = 4`, "row 4 "},
		"a salt":                   {`UPDATE audit SET salt = x'' WHERE id = 4`, "row 4 "},
		"a hash":                   {`UPDATE audit SET hash = randomblob(32) WHERE id = 4`, "row 4 "},
		"no hash":                  {`UPDATE audit SET hash = NULL WHERE id = 4`, "row 4 "},
		"a removed end":            {`DELETE FROM audit WHERE id >= 5`, "row 6 "},
		"a later begin":            {`UPDATE meta SET value = '3' WHERE key = '` + beforeChainKey + `'`, "row 4 "},
		"everything without salts": {`UPDATE audit SET actor = '', object = '', salt = x''`, "row 1 "},
	} {
		t.Run(what, func(t *testing.T) {
			dir, db := trail(t)
			c, err := db.VerifyAudit(t.Context(), record.AuditHead{})
			if err != nil {
				t.Fatal(err)
			}
			must.Do(t, db.Close())
			tamper(t, dir, off, test.change)
			after, err := OpenReadOnly(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer after.Close()
			_, err = after.VerifyAudit(t.Context(), c.Head)
			if idrl.KindOf(err) != idrl.Damaged || !strings.Contains(err.Error(), test.says) {
				t.Errorf("it says %v, want %q", err, test.says)
			}
		})
	}
}

// Rows of an earlier version get their hashes after the start, in several steps, and are part of what is checked.
func TestAuditTrailOfAnEarlierVersion(t *testing.T) {
	dir, old := t.TempDir(), fstest.MapFS{}
	all := migrations()
	names, err := fs.Glob(all, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name < "0042" {
			content := must.Get(fs.ReadFile(all, name))(t)
			old[name] = &fstest.MapFile{Data: content}
		}
	}
	before, err := open(t.Context(), dir, old)
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, before.Close())
	const rows = 2*chainRows + 50
	tamper(t, dir, `WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 450)
		INSERT INTO audit (at, session_id, actor, action, object) SELECT '2026-01-01T00:00:00.000000000Z', NULL, 'Ada', 'old act', k FROM n`)

	db, err := open(t.Context(), dir, all) // without the goroutine that adds hashes
	if err != nil {
		t.Fatal(err)
	}
	fillTrail(t, db)
	c, err := db.VerifyAudit(t.Context(), record.AuditHead{})
	if err != nil || c.Waiting != rows || c.Rows != rows+6 {
		t.Errorf("before: %+v, %v; want %d rows that wait", c, err, rows)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_ = db.chainOld(stopped)
	must.Do(t, db.Close())
	db, err = Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "all rows to have hashes", func() bool {
		c, err = db.VerifyAudit(t.Context(), record.AuditHead{})
		return err != nil || c.Rows == rows+7
	})
	if err != nil || c.Waiting != 0 {
		t.Fatalf("after: %+v, %v", c, err)
	}
	must.Do(t, db.Close())
	tamper(t, dir, `DROP TRIGGER audit_update`, `UPDATE audit SET object = 'x' WHERE id = 300`)
	after, err := OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	if _, err = after.VerifyAudit(t.Context(), c.Head); idrl.KindOf(err) != idrl.Damaged || !strings.Contains(err.Error(), "row 300 ") {
		t.Errorf("a changed row: %v", err)
	}
}

// Rows are found by what they say, page by page.
func TestAuditTrailIsRead(t *testing.T) {
	_, db := trail(t)
	for want, f := range map[string]record.AuditFilter{
		"6 4 3 2 1":   {},
		"6 5 4 3 2 1": {Answers: true},
		"6 4":         {Actor: "Ada"},
		"5":           {Action: "answer"},
		"5 3":         {Actor: "a1", Session: "s", Answers: true, Before: 6, Limit: 2},
		"4 3":         {Before: 6, Limit: 2},
		"":            {Session: "other"},
	} {
		var got []string
		err := db.AuditTrail(t.Context(), f, func(e record.AuditEntry) error {
			got = append(got, string(rune('0'+e.Position)))
			if e.Hash == "" || e.Erased {
				t.Errorf("%+v", e)
			}
			return nil
		})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%+v: rows %v, %v; want %s", f, got, err, want)
		}
	}
}
