package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
)

// probed is an open database whose health is found out anew whenever it is asked for.
func probed(t *testing.T) *DB {
	t.Helper()
	db := must.Get(Open(t.Context(), folder(t)))(t)
	t.Cleanup(func() { _ = db.Close() })
	db.health.fresh, db.health.every = 0, 0
	db.health.free = func(string) (uint64, bool) { return minFree, true } // the machine's own disk may be full
	return db
}

// limit sets the largest number of pages of the database.
func (db *DB) limit(t *testing.T, pages int) {
	t.Helper()
	must.Do(t, db.do(t.Context(), func(t *tx) error {
		var n int
		return t.row(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)).Scan(&n)
	}))
}

// reasons returns the reasons of the problems of db.
func (db *DB) reasons(t *testing.T) (out []string) {
	t.Helper()
	for _, p := range db.Problems(t.Context()) {
		if p.Advice == "" || strings.Contains(p.Reason, db.dir) || strings.Contains(p.Reason, "\n") {
			t.Errorf("problem %+v: no advice, or names a file to everybody", p)
		}
		out = append(out, p.Reason)
	}
	return out
}

func TestProblemsOfAFullDisk(t *testing.T) {
	db := probed(t)
	for range 3 { // probes take no room that lasts
		if got := db.reasons(t); got != nil {
			t.Fatalf("a sound server has problems %q", got)
		}
	}
	db.limit(t, 1) // the least is what is in use
	for _, size := range []int{1000, 1} {
		for n := 0; db.SetMeta(t.Context(), fmt.Sprint("fill ", size, n), strings.Repeat("x", size)) == nil; n++ {
		}
	}
	for range 2 {
		if got := db.reasons(t); len(got) != 1 || !strings.Contains(got[0], "disk is full") {
			t.Errorf("problems of a full disk: %q", got)
		}
	}
	db.limit(t, 1_000_000)
	if got := db.reasons(t); got != nil {
		t.Errorf("after room was made: %q", got)
	}
}

// A failed write is a problem at once, and one that succeeds ends it: neither waits
// for a probe.
func TestProblemsFollowTheWrites(t *testing.T) {
	db := probed(t)
	db.health.fresh, db.health.every = freshFor, freshFor
	db.reasons(t) // the one probe
	db.limit(t, 1)
	if err := db.SetMeta(t.Context(), "big", strings.Repeat("x", 1<<20)); idrl.KindOf(err) != idrl.Unavailable {
		t.Fatalf("error %v, want Unavailable", err)
	}
	if got := db.reasons(t); len(got) != 1 {
		t.Errorf("problems after a failed write: %q", got)
	}
	probe := db.health.probed
	for range 1000 {
		db.Problems(t.Context())
	}
	if !db.health.probed.Equal(probe) {
		t.Error("asking often probed often")
	}
	if err := db.SignOut(t.Context(), make([]byte, 32)); err != nil { // changes no row, so that nothing is written
		t.Fatal(err)
	}
	if got := db.reasons(t); len(got) != 1 {
		t.Errorf("problems after a write that wrote nothing: %q", got)
	}
	db.limit(t, 1_000_000)
	must.Do(t, db.SetMeta(t.Context(), "big", "small"))
	if got := db.reasons(t); got != nil {
		t.Errorf("problems after a write that succeeded: %q", got)
	}
}

func TestRefusalsAreNoProblems(t *testing.T) {
	db := probed(t)
	db.health.fresh, db.health.every = freshFor, freshFor
	if err := db.CreateSession(t.Context(), idrl.SessionSpec{ID: "s"}); idrl.KindOf(err) != idrl.Conflict {
		t.Fatalf("error %v, want Conflict", err)
	}
	if got := db.reasons(t); got != nil {
		t.Errorf("problems after a refusal: %q", got)
	}
}

func TestProblemsOfADiskThatFillsUp(t *testing.T) {
	db := probed(t)
	for _, test := range []struct {
		free  uint64
		known bool
		says  string
	}{
		{minFree, true, ""},
		{minFree - 1, true, "the disk is nearly full: 63 MiB are free, and 64 are needed"},
		{0, true, "the disk is nearly full: 0 MiB are free, and 64 are needed"},
		{0, false, ""},
	} {
		db.health.free = func(string) (uint64, bool) { return test.free, test.known }
		if got := strings.Join(db.reasons(t), "; "); got != test.says {
			t.Errorf("%d bytes free, known %v: problems %q, want %q", test.free, test.known, got, test.says)
		}
	}
}

func TestFreeSpace(t *testing.T) {
	free, known := freeSpace(t.TempDir())
	if !known {
		t.Skip("this system does not say how much room there is")
	}
	if free == 0 || free > 1<<60 {
		t.Errorf("%d bytes are free", free)
	}
	if _, known := freeSpace(filepath.Join(t.TempDir(), "none")); known {
		t.Error("the room of a folder that does not exist is known")
	}
}

func TestDamagedTablesAreNamed(t *testing.T) {
	dir := folder(t)
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	must.Do(t, db.read.QueryRow(`SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = 'answer'`).Scan(&page, &size))
	if d, err := db.Check(t.Context(), Judge{}); err != nil || !d.None() {
		t.Fatalf("a sound database: %+v, %v", d, err)
	}
	must.Do(t, db.Close())
	overwrite(t, filepath.Join(dir, FileName), (page-1)*size, size)

	db, err = Open(t.Context(), dir)
	if err != nil {
		t.Fatalf("what can be read is not served: %v", err)
	}
	defer db.Close()
	db.health.free = func(string) (uint64, bool) { return minFree, true }
	if got := db.reasons(t); len(got) != 1 || !strings.Contains(got[0], "database is damaged") {
		t.Errorf("problems at the start: %q", got)
	}
	d, err := db.Check(t.Context(), Judge{})
	if err != nil || len(d.Pages) != 1 || !strings.HasPrefix(d.Pages[0], "table answer: ") {
		t.Errorf("found %+v, %v; want table answer", d, err)
	}
	if _, err := db.Spec(t.Context(), "s"); err != nil {
		t.Errorf("what is not damaged cannot be read: %v", err)
	}
	var n int
	if err := convert(db.read.QueryRow(`SELECT count(*) FROM answer NOT INDEXED`).Scan(&n)); idrl.KindOf(err) != idrl.Damaged {
		t.Errorf("error %v of what is damaged, want Damaged", err)
	}
}

// overwrite puts size bytes of junk into a file.
func overwrite(t *testing.T, path string, at, size int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt([]byte(strings.Repeat("\xa5", int(size))), at)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Clips that were recorded before sums were kept get one when they have been found
// to be clips.
func TestClipsOfTheFirstFormatAreSealed(t *testing.T) {
	first, err := fs.ReadFile(migrations(), "0001_init.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, err := open(t.Context(), dir, fstest.MapFS{"0001_init.sql": &fstest.MapFile{Data: first}})
	if err != nil {
		t.Fatal(err)
	}
	err = earlierSession(t.Context(), db)
	if err == nil {
		err = db.do(t.Context(), func(t *tx) error {
			_, err := t.exec(`INSERT INTO clip VALUES ('s', 'good', 't', 0, 1, x'', x'676f6f64'), ('s', 'bad', 't', 0, 1, x'', x'0000'), ('s', 'bare', 't', 0, 1, x'', NULL)`)
			return err
		})
	}
	must.Do(t, errors.Join(err, db.Close()))

	isClip := func(c idrl.Clip) error {
		if string(c.Media) != "good" || c.Steps != 1 {
			return errors.New("not a clip")
		}
		return nil
	}
	if db, err = Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 2 { // the second time by the sums
		d, err := db.Check(t.Context(), Judge{Clip: isClip})
		if err != nil || len(d.Pages) > 0 || len(d.Clips) != 1 || d.Clips[0] != "clip bad of session s" {
			t.Errorf("found %+v, %v; want clip bad", d, err)
		}
		isClip = func(c idrl.Clip) error { return fmt.Errorf("clip %s was judged again", c.ID) }
	}
	if media, err := db.ClipMedia(t.Context(), "s", "good"); err != nil || string(media) != "good" {
		t.Errorf("sound clip: %q, %v", media, err)
	}
	if _, err := db.ClipMedia(t.Context(), "s", "bad"); idrl.KindOf(err) != idrl.Damaged {
		t.Errorf("damaged clip: %v, want Damaged", err)
	}
}
