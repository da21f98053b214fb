package store

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/tally"
)

func newSizes() *tally.Histogram { return tally.New(1, 2, 4, 8, 16, 32, 64, 128, 256) }

// TransactionSizes counts the transactions since the folder was opened by their writes.
func (db *file) TransactionSizes() *tally.Histogram { return db.sizes }

// WritesWaiting returns how many writes wait for the writer.
func (db *file) WritesWaiting() int { return len(db.requests) }

// LogBytes returns the size of the write-ahead log; 0 if there is none.
func (db *file) LogBytes() int64 {
	info, err := os.Stat(filepath.Join(db.dir, FileName+"-wal"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// FreeBytes returns how much may still be written on the disk of the data folder; known is false if the system does not say.
func (db *file) FreeBytes() (free uint64, known bool) { return db.health.free(db.dir) }

// JobCounts returns the number of jobs by state, 0 for a state without jobs, and when the first of the leases of running jobs
// ends; the zero time if none runs.
func (db queue) JobCounts(ctx context.Context) (n map[record.JobState]int, lease time.Time, err error) {
	n = map[record.JobState]int{record.JobQueued: 0, record.JobRunning: 0, record.JobDone: 0, record.JobFailed: 0}
	err = each(ctx, db.read, func(row scanner) error {
		var state record.JobState
		var count int
		var first time.Time
		err := row.Scan(&state, &count, timeColumn{&first})
		n[state] = count
		if state == record.JobRunning {
			lease = first
		}
		return err
	}, `SELECT state, count(*), min(lease_until) FROM job GROUP BY state`)
	return n, lease, err
}
