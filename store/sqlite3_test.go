package store_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

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

// The program sqlite3, which may be older than that of this program, finds a sound database sound.
func TestOtherSQLiteFindsItSound(t *testing.T) {
	needSQLite(t)
	out, err := exec.Command("sqlite3", filepath.Join(folderWithLinks(t), store.FileName), `PRAGMA integrity_check; PRAGMA foreign_key_check`).CombinedOutput()
	if err != nil || string(out) != "ok\n" {
		t.Errorf("integrity_check: %v\n%s", err, out)
	}
}
