package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// What killed imports left is removed at the next start, and not what an import beside the server
// is making.
func TestScratch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data [1]")
	db := open(t, dir)
	beside, err := store.OpenBeside(t.Context(), dir)
	must.Do(t, err)
	running, remove, err := beside.Scratch(t.Context())
	must.Do(t, err)
	killed := running + "0"
	must.Do(t, os.MkdirAll(filepath.Join(killed, "made"), 0o700))
	must.Do(t, db.Close())
	open(t, dir)
	if _, err := os.Stat(killed); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of an import that was killed: %v", err)
	}
	if _, err := os.Stat(running); err != nil {
		t.Errorf("the folder of an import that runs: %v", err)
	}
	if _, _, err := beside.Scratch(t.Context()); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("beside an import that runs: %v", err)
	}
	must.Do(t, remove())
	_, remove, err = beside.Scratch(t.Context())
	must.Do(t, err)
	must.Do(t, remove())
	must.Do(t, beside.Close())
	if _, err := os.Stat(running); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of an import that ended: %v", err)
	}
}

// recordsOf returns what is recorded of session s, by table.
func recordsOf(t *testing.T, db *store.DB) map[string][][]any {
	t.Helper()
	out := map[string][][]any{}
	must.Do(t, db.Read(t.Context(), "s", func(r *store.Reading) error {
		tables, err := r.RecordTables(t.Context())
		for _, table := range tables {
			if err == nil {
				err = r.Records(t.Context(), table, func(row []any) error {
					out[table.Name] = append(out[table.Name], append([]any(nil), row...))
					return nil
				})
			}
		}
		return err
	}))
	return out
}

// A session that was made in a database of its own is copied as it is, with the names in it.
func TestImportMade(t *testing.T) {
	made, db := seeded(t, t.TempDir()), open(t, t.TempDir())
	g := generation(0)
	as := assignment(1, g.Queries[0], "a1")
	must.Do(t, made.Issue(t.Context(), "s", []record.Assignment{as}))
	must.Do(t, made.Append(t.Context(), "s", record.Row{Answer: answer(1, as), After: snapshot(1)}))
	got, err := db.ImportMade(t.Context(), made, "s", store.Judge{}, "test")
	must.Do(t, err)
	if d := cmp.Diff(spec("s"), got); d != "" {
		t.Error(d)
	}
	want := recordsOf(t, made)
	if d := cmp.Diff(want, recordsOf(t, db)); d != "" || len(want["answer"]) != 1 || len(want["clip"]) == 0 {
		t.Errorf("%d answers; %s", len(want["answer"]), d)
	}
	names, err := db.AnnotatorNames(t.Context(), "s")
	must.Do(t, err)
	if d := cmp.Diff(map[idrl.AnnotatorID]string{"a1": "Ada", "a2": "Ada"}, names); d != "" {
		t.Error(d)
	}
	_, err = db.ImportMade(t.Context(), made, "s", store.Judge{}, "test")
	wantKind(t, err, idrl.Conflict)
	_, err = open(t, t.TempDir()).ImportMade(t.Context(), made, "s", store.Judge{Clip: func(idrl.Clip) error { return errors.New("no clip") }}, "test")
	wantKind(t, err, idrl.Invalid)
}
