package store

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
)

// Writes that wait are counted, and so are those of one transaction.
func TestWritesAreCounted(t *testing.T) {
	dir := t.TempDir()
	Empty.Copy(t, dir)
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	before, _, _ := db.TransactionSizes().Counts()
	busy, goOn := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_ = db.doBare(func(*sql.Conn) error {
			close(busy)
			<-goOn
			return nil
		})
	})
	waittest.For(t, busy, "the writer")
	for range 5 {
		all.Go(func() { _ = db.SetMeta(context.WithoutCancel(t.Context()), "k", "v") })
	}
	waittest.Until(t, "five writes that wait", func() bool { return db.WritesWaiting() >= 5 })
	close(goOn)
	all.Wait()
	n, _, upTo := db.TransactionSizes().Counts()
	if db.WritesWaiting() != 0 || n != before+1 || upTo[4] != before || upTo[8] != before+1 {
		t.Errorf("%d writes wait, and %d transactions with sizes %v; want none, and one more than %d, of 5", db.WritesWaiting(), n, upTo, before)
	}
	info, err := os.Stat(filepath.Join(db.dir, FileName+"-wal"))
	if err != nil || db.LogBytes() != info.Size() || info.Size() == 0 {
		t.Errorf("the log has %d bytes, want %d (%v)", db.LogBytes(), info.Size(), err)
	}
	db.health.free = func(string) (uint64, bool) { return 12345, true }
	if free, known := db.FreeBytes(); free != 12345 || !known {
		t.Errorf("%d bytes are free", free)
	}
}

// Jobs are counted by state, with the first lease that ends.
func TestJobsAreCounted(t *testing.T) {
	dir := t.TempDir()
	Empty.Copy(t, dir)
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	must.Do(t, db.CreateSession(t.Context(), idrl.SessionSpec{ID: "s"}))
	now := time.Now().UTC().Truncate(time.Second)
	for k := range int64(4) {
		job := record.JobRecord{JobKey: record.JobKey{Session: "s", Kind: string(rune('a' + k)), BasedOn: 1}, Payload: []byte("x")}
		must.Do(t, db.QueueJob(t.Context(), job, now))
		if k == 3 {
			continue // waits
		}
		_, a, err := db.BeginJob(t.Context(), job.JobKey, now, now.Add(time.Duration(k+1)*time.Minute))
		if err == nil && k == 0 {
			err = db.EndJob(t.Context(), a, now, record.JobFailed, "no memory")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	n, lease, err := db.JobCounts(t.Context())
	if err != nil || n[record.JobQueued] != 1 || n[record.JobRunning] != 2 || n[record.JobFailed] != 1 || n[record.JobDone] != 0 || len(n) != 4 || !lease.Equal(now.Add(2*time.Minute)) {
		t.Errorf("%v, the first lease ends %v (%v); want 1 queued, 2 running, 1 failed, %v", n, lease, err, now.Add(2*time.Minute))
	}
}
