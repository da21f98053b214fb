package store_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

// needSQLite skips a test where the program sqlite3 is not installed, which in CI is a failure.
func needSQLite(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// folderWithLinks returns the folder of a study with links of every kind.
func folderWithLinks(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db := haunted(t, dir, 200)
	must(t, db.AddUser(t.Context(), "grace", identity.Researcher, t0))
	_, err := db.Invite(t.Context(), hash("of grace"), identity.Invitation{User: "grace", Uses: 1, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)})
	must(t, err)
	must(t, withdrawAda(t.Context(), db))
	must(t, db.Erase(t.Context()))
	must(t, db.Close())
	return dir
}

// The program sqlite3, which may be older than that of this program, finds a sound database sound.
func TestOtherSQLiteFindsItSound(t *testing.T) {
	needSQLite(t)
	out, err := exec.Command("sqlite3", filepath.Join(folderWithLinks(t), store.FileName), `PRAGMA integrity_check; PRAGMA foreign_key_check`).CombinedOutput()
	if err != nil || string(out) != "ok\n" {
		t.Errorf("integrity_check: %v\n%s", err, out)
	}
}

// The rescue that is printed copies a sound database whole, and of a damaged one what can be read, to one that can be used.
func TestRescue(t *testing.T) {
	needSQLite(t)
	source := folderWithLinks(t)
	db := open(t, source)
	before, err := db.Load(t.Context(), "s")
	must(t, err)
	must(t, db.Close())
	rescued := func(t *testing.T, damage func([]byte)) (rec record.Record, lines []string) {
		t.Helper()
		dir := t.TempDir()
		b, err := os.ReadFile(filepath.Join(source, store.FileName))
		must(t, err)
		damage(b)
		must(t, os.WriteFile(filepath.Join(dir, store.FileName), b, 0o600))
		cmd := exec.Command("sh", "-c", store.Rescue)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		must(t, err)
		saved := t.TempDir()
		must(t, os.Rename(filepath.Join(dir, "saved.db"), filepath.Join(saved, store.FileName)))
		after := open(t, saved)
		if d, err := after.Check(t.Context(), store.Judge{}); err != nil || !d.None() {
			t.Errorf("what was saved is damaged: %+v, %v\n%s", d, err, out)
		}
		rec, err = after.Load(t.Context(), "s")
		must(t, err)
		return rec, strings.Split(string(out), "\n")
	}
	t.Run("sound", func(t *testing.T) {
		if got, said := rescued(t, func([]byte) {}); len(got.Log) != len(before.Log) || len(got.Snapshots) != len(before.Log) || len(said) > 1 {
			t.Errorf("%d of %d answers were saved: %q", len(got.Log), len(before.Log), said)
		}
	})
	t.Run("a page of answers", func(t *testing.T) {
		const page = 4096
		last := []byte(before.Log[len(before.Log)/2].ID)
		got, said := rescued(t, func(b []byte) {
			for at := 0; at < len(b); at += page { // the pages that hold the row: one of the table, and one of an index of its ids
				if bytes.Contains(b[at:at+page], last) {
					copy(b[at:at+page], bytes.Repeat([]byte{7}, page))
				}
			}
		})
		if n := len(got.Log); n == len(before.Log) || n < len(before.Log)*3/4 {
			t.Errorf("%d of %d answers were saved: %q", n, len(before.Log), said)
		}
	})
}
