package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/journaltest"
	"tiebreak/store"
)

// withAnnotators returns a database with session "s" and annotators a1 and a2.
func withAnnotators(t testing.TB, dir string) *store.DB {
	t.Helper()
	db := open(t, dir)
	must.Do(t, db.CreateSession(t.Context(), spec("s")))
	for range 2 {
		must.Get(db.CreateAnnotator(t.Context(), "s", "Ada"))(t)
	}
	return db
}

func TestJournal(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) record.Journal { return withAnnotators(t, t.TempDir()) })
}

// TestRecordSurvivesReopening: what a journal holds, its file holds.
func TestRecordSurvivesReopening(t *testing.T) {
	dir := t.TempDir()
	db := seeded(t, dir)
	as := assignment(1, generation(0).Queries[0], "a1")
	must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{as}))
	must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: answer(1, as), After: snapshot(1)}))
	must.Do(t, db.Adopt(t.Context(), "s", generation(3), 4))
	before := must.Get(db.Load(t.Context(), "s"))(t)
	must.Do(t, db.Close())
	after := must.Get(open(t, dir).Load(t.Context(), "s"))(t)
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("after reopening (-before +after):\n%s", d)
	}
}

// TestRefusesWhatItCannotWrite: the columns hold less than the types.
func TestRefusesWhatItCannotWrite(t *testing.T) {
	db := seeded(t, t.TempDir())
	as := assignment(1, generation(0).Queries[0], "a1")
	as.Why.PairStd = math.NaN()
	must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{as}))
	a := answer(1, as)
	a.ShownAt = t0.AddDate(18000, 0, 0)
	wantKind(t, db.Append(t.Context(), "s", record.Row{Answer: a, After: snapshot(1)}), idrl.Invalid)
	a = answer(1, as)
	a.ID = "" // the session checks it first
	wantKind(t, db.Append(t.Context(), "s", record.Row{Answer: a, After: snapshot(1)}), idrl.Internal)
	s := snapshot(1)
	s.Regret.Mean = math.NaN()
	must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: answer(1, as), After: s}))
	rec := must.Get(db.Load(t.Context(), "s"))(t)
	if !math.IsNaN(rec.Assignments[0].Why.PairStd) || !math.IsNaN(rec.Snapshots[0].Regret.Mean) {
		t.Errorf("numbers that are none became %v and %v", rec.Assignments[0].Why.PairStd, rec.Snapshots[0].Regret.Mean)
	}
}

// Many sessions write at once. A bad write fails alone.
func TestWritersDoNotDisturbOneAnother(t *testing.T) {
	db := open(t, t.TempDir())
	const sessions, answers = 24, 15
	var wg sync.WaitGroup
	for k := range sessions {
		id := idrl.SessionID(fmt.Sprintf("s%d", k))
		must.Do(t, db.CreateSession(t.Context(), spec(string(id))))
		must.Get(db.CreateAnnotator(t.Context(), id, ""))(t)
		must.Do(t, db.Adopt(t.Context(), id, generation(0), 0))
		wg.Go(func() {
			for n := range int64(answers) {
				as := assignment(n+1, generation(0).Queries[n%3], "a1")
				err := errors.Join(db.Issue(t.Context(), id, []record.Assignment{as}), db.Append(t.Context(), id, record.Row{Answer: answer(n+1, as), After: snapshot(n + 1)}))
				if err != nil {
					t.Error(err)
				}
				wantKind(t, db.Append(t.Context(), id, record.Row{Answer: answer(n+1, as), After: snapshot(n + 1)}), idrl.Conflict)
			}
		})
	}
	wg.Wait()
	all := must.Get(db.Sessions(t.Context()))(t)
	for _, s := range all {
		if s.Answers != answers {
			t.Errorf("session %s has %d answers, want %d", s.Spec.ID, s.Answers, answers)
		}
	}
}

func TestNothingIsRecordedAfterCancel(t *testing.T) {
	db := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.CreateSession(ctx, spec("s")); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	_, err := db.Spec(t.Context(), "s")
	wantKind(t, err, idrl.NotFound)
}
