package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// An empty database, or none where there was one, is not a new study.
func TestALostDatabaseIsNotANewStudy(t *testing.T) {
	lose := map[string]func(t *testing.T, dir string){
		"empty file": func(t *testing.T, dir string) { must.Do(t, os.Truncate(filepath.Join(dir, store.FileName), 0)) },
		"missing beside backups": func(t *testing.T, dir string) {
			must.Do(t, os.Mkdir(filepath.Join(dir, "backups"), 0o700))
			must.Do(t, os.Rename(filepath.Join(dir, store.FileName), filepath.Join(dir, "backups", "v1-20260504T030201Z.db")))
		},
		"missing beside its log": func(t *testing.T, dir string) {
			must.Do(t, os.WriteFile(filepath.Join(dir, store.FileName+"-wal"), make([]byte, 4152), 0o600))
			must.Do(t, os.Remove(filepath.Join(dir, store.FileName)))
		},
	}
	for name, lose := range lose {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must.Do(t, seeded(t, dir).Close())
			lose(t, dir)
			before := listing(t, dir)
			for range 2 { // a first refusal must not make way for a second try
				_, err := store.Open(t.Context(), dir)
				wantKind(t, err, idrl.Damaged)
				for _, says := range []string{dir, "backups", store.FileName + "-wal"} {
					if err != nil && !strings.Contains(err.Error(), says) {
						t.Errorf("no %q in: %v", says, err)
					}
				}
			}
			if after := listing(t, dir); !slices.Equal(before, after) {
				t.Errorf("the refusal changed the folder from %v to %v", before, after)
			}
			if _, err := store.OpenReadOnly(t.Context(), dir); name == "empty file" {
				wantKind(t, err, idrl.Damaged)
			}
		})
	}
}

// listing returns the names and sizes of the files in dir but for the lock.
func listing(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		info := must.Get(e.Info())(t)
		if !strings.HasPrefix(e.Name(), "server.lock") {
			out = append(out, fmt.Sprint(e.Name(), " ", info.Size()))
		}
	}
	return out
}

// A server that was killed while it made the database has left no study: the next
// one starts.
func TestStartsAfterAKillDuringTheFirstStart(t *testing.T) {
	for name, left := range map[string]map[string]string{
		"nothing":  {},
		"empty":    {".new": ""},
		"half":     {".new": "SQLite format 3\x00 and so on", ".new-journal": "junk", ".new-wal": "junk", ".new-shm": "junk"},
		"its lock": {"../server.lock": ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for suffix, text := range left {
				path := filepath.Join(dir, store.FileName+suffix)
				if strings.HasPrefix(suffix, "..") {
					path = filepath.Join(dir, filepath.Base(suffix))
				}
				must.Do(t, os.WriteFile(path, []byte(text), 0o600))
			}
			must.Do(t, seeded(t, dir).Close())
			if rest, _ := filepath.Glob(filepath.Join(dir, store.FileName+".new*")); len(rest) > 0 {
				t.Errorf("left behind: %v", rest)
			}
		})
	}
}

func TestADamagedHeaderIsNamedWithWhatToDo(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, seeded(t, dir).Close())
	path := filepath.Join(dir, store.FileName)
	b := must.Get(os.ReadFile(path))(t)
	for name, damage := range map[string]func([]byte) []byte{
		"no header": func(b []byte) []byte { copy(b, "something else altogether"); return b },
		"schema":    func(b []byte) []byte { copy(b[100:], strings.Repeat("\xa5", 3000)); return b },
	} {
		t.Run(name, func(t *testing.T) {
			must.Do(t, os.WriteFile(path, damage(slices.Clone(b)), 0o600))
			for what, open := range map[string]func(context.Context, string) (*store.DB, error){"Open": store.Open, "OpenReadOnly": store.OpenReadOnly} {
				_, err := open(t.Context(), dir)
				wantKind(t, err, idrl.Damaged)
				for _, says := range []string{"backups", store.FileName + "-wal", "tiebreak restore", "tiebreak recover"} {
					if err != nil && !strings.Contains(err.Error(), says) {
						t.Errorf("%s: no %q in: %v", what, says, err)
					}
				}
			}
		})
	}
}
