package store

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
)

// A data folder of format 1 opens and keeps what it had: its regret is marked as of
// definition 1, its session has no pool, and its questions no number of rivals.
func TestFormat1HasTheOldRegretAndNoPool(t *testing.T) {
	first, err := fs.ReadFile(migrations(), "0001_init.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, err := open(t.Context(), dir, fstest.MapFS{"0001_init.sql": {Data: first}})
	if err != nil {
		t.Fatal(err)
	}
	g := idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{"c": {ID: "c", Phi: []float64{1}}}, Queries: []idrl.Query{{ID: "q", Kind: idrl.RateClip, Clips: []idrl.ClipID{"c"}}}}
	queries, err := encodeQueries(g.Clips, g.Queries)
	if err != nil {
		t.Fatal(err)
	}
	const at = "2026-01-02T03:04:05.000000000Z"
	for _, row := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO session VALUES ('s', ?, '{"ID":"s"}')`, []any{at}},
		{`INSERT INTO annotator VALUES ('s', 'a1', '', ?)`, []any{at}},
		{`INSERT INTO clip VALUES ('s', 'c', 't', 0, 1, ?, NULL)`, []any{encodeVector([]float64{1})}},
		{`INSERT INTO generation VALUES ('s', 0, 0, ?, ?)`, []any{queries, at}},
		{`INSERT INTO policy VALUES ('s', 'g0.p0', 0, 0, 'sample', ?1, ?1, ?1, 'c')`, []any{encodeVector([]float64{1})}},
		{`INSERT INTO generation VALUES ('s', 1, 1, ?, ?)`, []any{queries, at}},
		{`INSERT INTO policy VALUES ('s', 'g1.p0', 1, 0, 'sample', ?1, ?1, ?1, 'c')`, []any{encodeVector([]float64{2})}},
		{`INSERT INTO query VALUES ('s', 'q', 'c', NULL, 'clip_rating', ?)`, []any{encodeVector([]float64{1})}},
		{`INSERT INTO assignment VALUES ('s', 's.1', 1, 'q', 'c', 'a1', '', ?1, ?1, 'x', NULL, 'g0.p0', 'g0.p1', 1, 0, 0, 0)`, []any{at}},
		{`INSERT INTO answer VALUES ('s', 1, 'x', 's.1', 'q', 'a1', NULL, 'rated', 0.5, '', '', ?1, ?1, ?1, 0, 0, 0, '', 1, 0)`, []any{at}},
		{`INSERT INTO posterior VALUES ('s', 1, x'01', 0.13, 2.5)`, nil},
	} {
		err := db.do(t.Context(), func(t *tx) error { _, err := t.exec(row.sql, row.args...); return err })
		if err != nil {
			t.Fatalf("%s: %v", row.sql, err)
		}
	}
	must.Do(t, db.Close())

	if db, err = Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	rec, err := db.Load(t.Context(), "s")
	must.Do(t, errors.Join(err, db.Close()))
	if len(rec.Snapshots) != 1 || rec.Snapshots[0].Regret != (idrl.Regret{Seq: 1, Definition: 1, Mean: 0.13, Bound: 2.5}) {
		t.Errorf("snapshots %+v, want one with the regret of definition 1 as it was", rec.Snapshots)
	}
	if len(rec.Pool) != 0 || len(rec.Archive) != 1 || rec.Archive[0][0].ID != "g0.p0" || rec.Archive[0][0].Clip != "c" {
		t.Errorf("pool %v and archive %v, want none and that of generation 0", rec.Pool, rec.Archive)
	}
	if w := rec.Assignments[0].Why; w.Rivals != 0 || w.Second != "g0.p1" {
		t.Errorf("reason %+v, want the pair as it was and no rivals", w)
	}
	if len(backups(t, dir)) != 1 {
		t.Error("the folder was not backed up before the migration")
	}
}
