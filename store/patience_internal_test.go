package store

import (
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
)

// A write of background work waits for that of an answer and shares its transaction, for at most the patience of one, and only while
// annotators answer. Its error is its own.
func TestBackgroundWritesShareTransactions(t *testing.T) {
	dir := t.TempDir()
	Empty.Copy(t, dir)
	synctest.Test(t, func(t *testing.T) {
		db := must.Get(Open(t.Context(), dir))(t)
		defer db.Close()
		must.Do(t, db.CreateSession(t.Context(), idrl.SessionSpec{ID: "s"}))
		began := time.Now()
		key := record.JobKey{Session: "s", Kind: "train", BasedOn: 1}
		queue := func(session idrl.SessionID) error {
			return db.QueueJob(t.Context(), record.JobRecord{JobKey: record.JobKey{Session: session, Kind: key.Kind, BasedOn: key.BasedOn}}, began)
		}
		answer := func() error { return db.Issue(t.Context(), "s", nil) } // the question after an answer
		took := func(what string, f func() error, want time.Duration, transactions uint64) {
			t.Helper()
			before, start := db.written(), time.Now()
			must.Do(t, f())
			if d, n := time.Since(start), db.written()-before; d != want || n != transactions {
				t.Errorf("%s takes %v and %d transactions, want %v and %d", what, d, n, want, transactions)
			}
		}
		both := func(background func() error) func() error {
			return func() error {
				ended := make(chan error, 1)
				go func() { ended <- background() }()
				time.Sleep(3 * time.Millisecond)
				must.Do(t, answer())
				return <-ended
			}
		}
		took("a job while no annotator answers", func() error { return queue("s") }, 0, 1)
		took("an answer", answer, 0, 1)
		took("a job that no answer follows", func() error { return queue("s") }, patience, 1)
		took("an answer", answer, 0, 1)
		took("a job and an answer", both(func() error { return queue("s") }), 3*time.Millisecond, 1)
		took("a job of no session and an answer", both(func() error {
			if err := queue("x"); idrl.KindOf(err) != idrl.NotFound {
				t.Errorf("it is recorded: %v", err)
			}
			return nil
		}), 3*time.Millisecond, 1)
		took("a write that is not patient", func() error { return db.SetMeta(t.Context(), "k", "v") }, 0, 1)
		last := make(chan error, 1)
		go func() { last <- queue("s") }()
		synctest.Wait()
		took("an end of the server", db.Close, 0, 1)
		must.Do(t, <-last) // and is durable
	})
}

func (db *DB) written() uint64 {
	n, _, _ := db.TransactionSizes().Counts()
	return n
}
