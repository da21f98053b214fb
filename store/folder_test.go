package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/store"
)

func TestOpenRefusesUnfitFolders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	dirs := map[string]string{"a file": file, "below a file": filepath.Join(file, "data")}
	if os.Geteuid() != 0 { // root may write everywhere
		locked := filepath.Join(t.TempDir(), "locked")
		must.Do(t, os.Mkdir(locked, 0o500))
		dirs["no permission"] = locked
	}
	for name, dir := range dirs {
		t.Run(name, func(t *testing.T) {
			_, err := store.Open(t.Context(), dir)
			wantKind(t, err, idrl.Invalid)
			if err != nil && (!strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "--data")) {
				t.Errorf("the error names no folder or no way out: %v", err)
			}
		})
	}
}

func TestFolderIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "da ta?#%41ü")
	db := seeded(t, dir)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, store.FileName): 0o600, filepath.Join(dir, store.FileName+"-wal"): 0o600} {
		info := must.Get(os.Stat(path))(t)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %s is %o, want %o", path, got, want)
		}
	}
	must.Do(t, db.Close())
	must.Get(open(t, dir).Spec(t.Context(), "s"))(t)
}

// TestFilesOfAnOpenFolderArePrivate: a folder that was made by hand, and files that
// were copied into it, do not let other users of the machine read or lock anything.
func TestFilesOfAnOpenFolderArePrivate(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, seeded(t, dir).Close())
	must.Do(t, os.Chmod(dir, 0o755))
	for _, name := range []string{store.FileName, "server.lock"} {
		must.Do(t, os.Chmod(filepath.Join(dir, name), 0o644))
	}
	if got := store.Exposed(dir); len(got) != 3 {
		t.Errorf("exposed before the start: %q, want the folder and two files", got)
	}
	open(t, dir)
	files := must.Get(os.ReadDir(dir))(t)
	seen := map[string]bool{}
	for _, f := range files {
		info := must.Get(f.Info())(t)
		if seen[f.Name()] = true; info.Mode().Perm()&0o077 != 0 {
			t.Errorf("mode of %s is %o", f.Name(), info.Mode().Perm())
		}
	}
	for _, name := range []string{"server.lock", "server.lock-journal", store.FileName + "-wal"} {
		if !seen[name] {
			t.Errorf("%s is not there while a server runs; files: %v", name, seen)
		}
	}
	if got := store.Exposed(dir); len(got) != 1 || got[0] != dir {
		t.Errorf("exposed: %q, want the folder alone, whose mode is its owner's to choose", got)
	}
}

func TestOneServerAFolder(t *testing.T) {
	dir := t.TempDir()
	db := seeded(t, dir)
	_, err := store.Open(t.Context(), dir)
	wantKind(t, err, idrl.Conflict)
	if err != nil && !strings.Contains(err.Error(), "another tiebreak server") {
		t.Errorf("error = %v", err)
	}
	must.Do(t, db.SetMeta(t.Context(), "still", "works"))
	must.Do(t, db.Close())
	must.Do(t, db.Close()) // a second time is harmless
	wantKind(t, db.SetMeta(t.Context(), "k", "v"), idrl.Unavailable)
	open(t, dir)
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	_, err := store.OpenReadOnly(t.Context(), dir)
	wantKind(t, err, idrl.NotFound)
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("looking left %v behind", left)
	}
	db := seeded(t, dir)
	for _, when := range []string{"beside a server", "without one"} {
		t.Run(when, func(t *testing.T) {
			ro, err := store.OpenReadOnly(t.Context(), dir)
			must.Do(t, err)
			rec, err := ro.Load(t.Context(), "s")
			if err != nil || len(rec.Generation.Queries) != 3 {
				t.Errorf("load: %v", err)
			}
			wantKind(t, ro.SetMeta(t.Context(), "k", "v"), idrl.Forbidden)
			must.Do(t, ro.Close())
		})
		must.Do(t, db.Close())
	}
}
