package store_test

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
	"tiebreak/store/storetest"
)

// A session that was made large for a benchmark is sound, and each of its answers has an assignment
// of its own.
func TestGrow(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	const given, wanted = 6, 100
	prepare(t, db, "s", given)
	for seq := range int64(given) {
		must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: answer(seq+1, assignment(seq+1, generation0.Queries[0], "a1")), After: snapshot(seq + 1)}))
	}
	must.Do(t, db.Close())
	must.Do(t, storetest.Grow(t.Context(), dir, "s", wanted))
	db = open(t, dir)
	rec := must.Get(db.Load(t.Context(), "s"))(t)
	if len(rec.Log) != wanted || len(rec.Assignments) != wanted || len(rec.Snapshots) != wanted || len(rec.Clips) <= 2 {
		t.Fatalf("%d answers, %d assignments, %d snapshots about %d clips", len(rec.Log), len(rec.Assignments), len(rec.Snapshots), len(rec.Clips))
	}
	questions := map[idrl.QueryID]int{}
	for i, a := range rec.Log {
		as := rec.Assignments[i]
		if as.ID != a.Assignment || as.Answer != a.ID || as.N != int64(i+1) || as.Query.ID != a.Query {
			t.Errorf("row %d: %+v is about %+v", i+1, a, as)
		}
		questions[a.Query]++
	}
	if n := len(questions); n < (wanted-given)/2 {
		t.Errorf("%d questions", n)
	}
	if damage, err := db.Check(t.Context(), store.Judge{}); err != nil || !damage.None() {
		t.Errorf("the database is damaged: %+v, %v", damage, err)
	}
}
