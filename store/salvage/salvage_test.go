package salvage_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/store/salvage"

	_ "modernc.org/sqlite"
)

// small returns a database of few pages: with overflow pages, an interior page, an index and a table WITHOUT ROWID; and its log,
// in which the last rows are.
func small(t testing.TB) (db, wal []byte, want map[int64]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	p, err := sql.Open("sqlite", "file:"+path+"?_pragma=page_size(512)&_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.SetMaxOpenConns(1)
	want = map[int64]string{}
	exec := func(query string, args ...any) {
		t.Helper()
		must.Get(p.Exec(query, args...))(t)
	}
	exec(`CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT, y REAL, z BLOB) STRICT; CREATE INDEX a_x ON a (x); CREATE TABLE b (k TEXT PRIMARY KEY, v INTEGER) STRICT, WITHOUT ROWID`)
	for i := range int64(40) {
		text := fmt.Sprint("text ", i, string(bytes.Repeat([]byte{'x'}, int(i*i))))
		want[i-3] = text
		exec(`INSERT INTO a VALUES (?, ?, ?, ?)`, i-3, text, float64(i)/2, []byte{byte(i), 0})
		exec(`INSERT INTO b VALUES (?, ?)`, text, -i<<(i%60))
		if i == 20 {
			exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
		}
	}
	db, err = os.ReadFile(path)
	wal, lost := os.ReadFile(path + "-wal")
	must.Do(t, errors.Join(err, lost))
	return db, wal, want
}

func open(db, wal []byte) *salvage.File {
	return salvage.Open(salvage.Source{From: bytes.NewReader(db), Size: int64(len(db))}, salvage.Source{From: bytes.NewReader(wal), Size: int64(len(wal))})
}

// All rows are read, as SQLite reads them; those that are in the log alone up to its first damaged frame.
func TestRows(t *testing.T) {
	db, wal, want := small(t)
	rows := func(f *salvage.File) map[int64]string {
		got := map[int64]string{}
		for _, tree := range f.Trees() {
			for _, page := range tree.Pages {
				bad, err := f.Rows(page, func(r salvage.Row) error {
					if tree.Name == "a" {
						got[r.ID], _ = r.Values[1].(string)
						if i := r.ID + 3; r.Values[0] != nil || r.Values[2] != float64(i)/2 && r.Values[2] != i/2 || !reflect.DeepEqual(r.Values[3], []byte{byte(i), 0}) {
							t.Errorf("row %d: %v", r.ID, r.Values)
						}
					}
					return nil
				})
				if bad > 0 || err != nil {
					t.Errorf("page %d: %d rows, %v", page, bad, err)
				}
			}
			if tree.Broken > 0 || tree.Kind == "" {
				t.Errorf("tree %+v", tree)
			}
		}
		return got
	}
	if got := rows(open(db, wal)); !reflect.DeepEqual(got, want) {
		t.Errorf("%d rows, want %d: %v", len(got), len(want), got)
	}
	if got := rows(open(db, nil)); len(got) != 21 {
		t.Errorf("%d rows without the log, want 21", len(got))
	}
	wal[len(wal)/2] ^= 1
	if got := rows(open(db, wal)); len(got) < 21 || len(got) == len(want) {
		t.Errorf("%d rows with a damaged log", len(got))
	}
}

// FuzzPages: whatever is in a file, reading it ends, without a panic, and no value is larger than the files.
func FuzzPages(f *testing.F) {
	db, wal, _ := small(f)
	f.Add(db, wal, 0, []byte{})
	f.Add(db[:512*9], wal[:200], 512*5+3, []byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, db, wal []byte, at int, with []byte) {
		if len(db) > 1<<16 || len(wal) > 1<<16 {
			return
		}
		db = bytes.Clone(db)
		if at >= 0 && at < len(db) {
			copy(db[at:], with)
		}
		file, held := open(db, wal), 0
		for _, tree := range file.Trees() {
			for _, page := range tree.Pages {
				must.Get(file.Rows(page, func(r salvage.Row) error {
					for _, v := range r.Values {
						if b, ok := v.([]byte); ok {
							held = max(held, len(b))
						}
					}
					return nil
				}))(t)
			}
		}
		if held > len(db)+len(wal)+1<<16 {
			t.Errorf("a value of %d bytes in files of %d", held, len(db)+len(wal))
		}
	})
}
