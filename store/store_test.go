package store_test

import (
	"os"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/journaltest"
	"tiebreak/store"
)

// open opens the data folder dir. One that is empty gets a new database.
func open(t testing.TB, dir string) *store.DB {
	t.Helper()
	if files, err := os.ReadDir(dir); err == nil && len(files) == 0 {
		store.Empty.Copy(t, dir)
	}
	db := must.Get(store.Open(t.Context(), dir))(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Fixtures of the contract of journals.
var (
	t0         = journaltest.T0
	clip       = journaltest.Clip
	generation = journaltest.Generation
	assignment = journaltest.Assignment
	answer     = journaltest.Answer
	snapshot   = journaltest.Snapshot
	spec       = journaltest.Spec
)

// seeded returns a database with session "s", annotators a1 and a2, and a
// generation in use.
func seeded(t testing.TB, dir string) *store.DB {
	t.Helper()
	db := withAnnotators(t, dir)
	must.Do(t, db.Adopt(t.Context(), "s", generation(0), 0))
	return db
}

// wantKind fails unless err is of kind k.
func wantKind(t testing.TB, err error, k idrl.Kind) {
	t.Helper()
	if err == nil || idrl.KindOf(err) != k {
		t.Errorf("error = %v (kind %d), want kind %d", err, idrl.KindOf(err), k)
	}
}
