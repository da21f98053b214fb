package store_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
	"tiebreak/store/salvage"
)

const pageSize = 4096

// folderWithLinks returns the folder of a study with links of every kind, in which people have withdrawn.
func folderWithLinks(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db := haunted(t, dir, 200)
	must.Do(t, db.AddUser(t.Context(), "grace", identity.Researcher, t0))
	must.Get(db.Invite(t.Context(), hash("of grace"), identity.Invitation{User: "grace", Uses: 1, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)}))(t)
	must.Do(t, withdrawAda(t.Context(), db))
	must.Do(t, db.Erase(t.Context()))
	must.Do(t, db.Close())
	return dir
}

// contents returns the rows of every table of a database, as text.
func contents(t *testing.T, dir string) map[string][]string {
	t.Helper()
	p := must.Get(sql.Open("sqlite", "file:"+filepath.Join(dir, store.FileName)+"?mode=ro"))(t)
	defer p.Close()
	out := map[string][]string{}
	tables := must.Get(p.Query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose%'`))(t)
	defer tables.Close()
	var names []string
	for tables.Next() {
		var name string
		must.Do(t, tables.Scan(&name))
		names = append(names, name)
	}
	must.Do(t, tables.Err())
	for _, name := range names {
		out[name] = rowsOf(t, p, name)
	}
	return out
}

// rowsOf returns the rows of a table, as text, sorted.
func rowsOf(t *testing.T, p *sql.DB, table string) (out []string) {
	t.Helper()
	rows := must.Get(p.Query(`SELECT * FROM "` + table + `"`))(t)
	defer rows.Close()
	columns := must.Get(rows.Columns())(t)
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		must.Do(t, rows.Scan(values...))
		var text strings.Builder
		for _, v := range values {
			fmt.Fprintf(&text, "%T %v|", *v.(*any), *v.(*any))
		}
		out = append(out, text.String())
	}
	must.Do(t, rows.Err())
	slices.Sort(out)
	return out
}

// recovered recovers a copy of the folder source whose database is b.
func recovered(t *testing.T, b []byte) (store.Recovery, string) {
	t.Helper()
	dir, out := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, store.FileName), b, 0o600))
	r := must.Get(store.Recover(t.Context(), dir, out))(t)
	return r, out
}

// A sound database is recovered as it is, also what is in its write-ahead log only, with the other files of its folder.
func TestRecoverASoundDatabase(t *testing.T) {
	source := folderWithLinks(t)
	db := open(t, source)
	must.Do(t, db.SetMeta(t.Context(), "in the log", "only"))
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "new")
	must.Do(t, os.CopyFS(dir, os.DirFS(source))) // as a kill leaves it
	must.Do(t, os.MkdirAll(filepath.Join(dir, "rollouts", "mine"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "rollouts", "mine", "index.json"), []byte("{}"), 0o600))
	r, err := store.Recover(t.Context(), dir, out)
	must.Do(t, err)
	if len(r.Lost) > 0 || r.Assumed || r.Format != store.Format() || r.Saved["answer"] < 200 {
		t.Errorf("recovery: %+v", r)
	}
	_, err = store.Recover(t.Context(), source, t.TempDir())
	wantKind(t, err, idrl.Conflict) // a server runs
	_, err = store.Recover(t.Context(), dir, out)
	wantKind(t, err, idrl.Conflict) // not empty
	must.Do(t, db.Close())
	if got, want := contents(t, out), contents(t, source); !reflect.DeepEqual(got, want) {
		for name := range want {
			if !slices.Equal(got[name], want[name]) {
				t.Errorf("table %s has %d rows, want %d", name, len(got[name]), len(want[name]))
			}
		}
	}
	if _, err := fs.Stat(os.DirFS(out), "rollouts/mine/index.json"); err != nil {
		t.Error(err)
	}
	after := open(t, out)
	if d, err := after.Check(t.Context(), store.Judge{}); err != nil || !d.None() {
		t.Errorf("damage %+v, %v", d, err)
	}
	_, err = after.Load(t.Context(), "s")
	must.Do(t, err)
}

// Whichever page is damaged, and how, all rows on the others are saved, and what is lost is counted: also where the page
// leads to others, or is the list of tables.
func TestRecoverWithoutAnyPage(t *testing.T) {
	source := folderWithLinks(t)
	b := must.Get(os.ReadFile(filepath.Join(source, store.FileName)))(t)
	whole := salvage.Open(salvage.Source{From: bytes.NewReader(b), Size: int64(len(b))}, salvage.Source{})
	trees := whole.Trees()
	t.Logf("%d pages, %d trees", whole.Pages(), len(trees))
	unclear := 0
	for n := 0; n < whole.Pages(); n++ {
		for name, damage := range map[string]func([]byte){
			"zeros": func(p []byte) { clear(p) },
			"noise": func(p []byte) { copy(p, bytes.Repeat([]byte{0xa5, 7, 0x5a}, pageSize)[n%3:]) },
		} {
			if name == "zeros" && n%8 != 0 && n > 4 {
				continue // less is told by it
			}
			damaged := slices.Clone(b)
			damage(damaged[n*pageSize : (n+1)*pageSize])
			left := salvage.Open(salvage.Source{From: bytes.NewReader(damaged), Size: int64(len(b))}, salvage.Source{})
			r, out := recovered(t, damaged)
			for _, tree := range trees {
				if tree.Kind != "table" || strings.HasPrefix(tree.Name, "sqlite_") || strings.HasPrefix(tree.Name, "goose") {
					continue
				}
				want, hit := 0, false
				for _, page := range tree.Pages {
					must.Get(left.Rows(page, func(salvage.Row) error { want++; return nil }))(t)
					hit = hit || int(page) == n+1
				}
				said := strings.Join(r.Lost, "; ")
				if got := r.Saved[tree.Name]; got != want && (tree.Name == "answer" || got > want || !strings.Contains(said, "nothing says whether")) {
					t.Errorf("page %d (%s): of table %s %d rows were saved, want %d; lost: %s", n+1, name, tree.Name, got, want, said)
				} else if got != want {
					unclear++
				}
				if hit && !strings.Contains(said, tree.Name) {
					t.Errorf("page %d (%s): it is of table %s, of which nothing is said: %s", n+1, name, tree.Name, said)
				}
			}
			if n%10 == 0 {
				db := open(t, out)
				if d, err := db.Check(t.Context(), store.Judge{}); err != nil || !d.None() {
					t.Errorf("page %d (%s): damage %+v, %v", n+1, name, d, err)
				}
				must.Do(t, db.Close())
			}
		}
	}
	t.Logf("%d times it was not clear of which table rows are", unclear)
}

// People who withdrew, of whom an old file has rows, are not brought back.
func TestRecoverForgets(t *testing.T) {
	dir := t.TempDir()
	db := haunted(t, dir, 40)
	must.Do(t, db.Close())
	old := must.Get(os.ReadFile(filepath.Join(dir, store.FileName)))(t)
	db = open(t, dir)
	must.Do(t, withdrawAda(t.Context(), db))
	must.Do(t, db.Erase(t.Context()))
	must.Do(t, db.Close())
	must.Do(t, os.WriteFile(filepath.Join(dir, store.FileName), old, 0o600))
	out := t.TempDir()
	r := must.Get(store.Recover(t.Context(), dir, out))(t)
	if r.Forgot != 2 || len(traces(t, out)) > 0 {
		t.Errorf("%d people were removed, and there are %q", r.Forgot, traces(t, out))
	}
}

// Files that are no database have nothing to save.
func TestRecoverNothing(t *testing.T) {
	for name, content := range map[string][]byte{"empty": {}, "short": []byte("SQLite format 3\x00"), "noise": bytes.Repeat([]byte{13, 0, 0, 255}, 20_000)} {
		t.Run(name, func(t *testing.T) {
			dir, out := t.TempDir(), filepath.Join(t.TempDir(), "new")
			must.Do(t, os.WriteFile(filepath.Join(dir, store.FileName), content, 0o600))
			_, err := store.Recover(t.Context(), dir, out)
			wantKind(t, err, idrl.Damaged)
			if _, err := os.Stat(out); err == nil {
				t.Error("the folder was made")
			}
		})
	}
}
