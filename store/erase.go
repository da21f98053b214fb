package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/store/archive"
)

// Waits between two attempts to erase: the first, which is also the interval of checks for
// withdrawals by other processes, and the longest.
const (
	eraseEvery  = time.Second
	eraseSeldom = 10 * time.Second
)

// readersWait is how long one attempt waits, and blocks writes, until all reads have ended.
const readersWait = 100 * time.Millisecond

// keepErasing calls Erase whenever data were withdrawn, and again while something prevents it,
// until ctx is done.
func (db *upkeep) keepErasing(ctx context.Context) {
	for wait := time.Duration(0); ; {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-db.owes:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
		if err := db.Erase(ctx); err != nil {
			wait = min(max(2*wait, eraseEvery), eraseSeldom)
		} else {
			wait = eraseEvery
		}
	}
}

// Erase removes the data of people who withdrew from every file of the data folder: the database,
// its write-ahead log, the backups in the folder, and the files of killed processes. It returns nil
// if no file contains any of it, and an error of kind Unavailable, with the reason, if something
// prevents it; a later call, also of another process, then continues.
func (db *upkeep) Erase(ctx context.Context) error {
	db.erasing.Lock()
	defer db.erasing.Unlock()
	people, owed, err := db.owed(ctx)
	switch {
	case err != nil:
		return err
	case owed == 0:
	case db.lock == nil:
		return idrl.Errorf(idrl.Unavailable, "the process that uses the data folder does it")
	default:
		err = db.erase(ctx, people)
	}
	if ctx.Err() == nil {
		db.health.hindered(owed, err)
	}
	return err
}

// owed returns everyone whose data were withdrawn, and the number of those whose data files
// may still contain; 1 at least where an earlier version left content in free space of the
// database.
func (db *upkeep) owed(ctx context.Context) (people []archive.Person, owed int, err error) {
	const query = `SELECT (SELECT count(*) FROM annotator WHERE withdrawn_at IS NOT NULL AND erased_at IS NULL) + (SELECT count(*) FROM meta WHERE key = '` + scrubKey + `')`
	if err := db.read.QueryRowContext(ctx, query).Scan(&owed); err != nil || owed == 0 {
		return nil, 0, convert(err)
	}
	people, err = withdrawn(ctx, db.read)
	return people, owed, err
}

// scrubKey is a key in meta that exists while the database may contain erased content that a
// version without overwriting left.
const scrubKey = "scrub"

// erase is Erase for people, everyone who has withdrawn. The database comes first: a later backup
// of it then has nothing of them.
func (db *upkeep) erase(ctx context.Context, people []archive.Person) error {
	if db.rewritten != len(people) {
		if err := db.rewrite(ctx); err != nil {
			return err
		}
		db.rewritten = len(people)
	}
	if err := db.foldLog(ctx); err != nil {
		return err
	}
	if removeScratch(ctx, db.dir) > 0 {
		return idrl.Errorf(idrl.Unavailable, "an import is under way, whose files may hold a copy")
	}
	if err := db.forget(ctx, people); err != nil {
		return err
	}
	return db.erased(ctx, people)
}

// erased records that no file has data of people any more.
func (db *upkeep) erased(ctx context.Context, people []archive.Person) error {
	return db.do(ctx, func(t *tx) error {
		now := encodeTime(time.Now())
		for _, p := range people {
			if _, err := t.exec(`UPDATE annotator SET erased_at = ? WHERE session_id = ? AND id = ? AND erased_at IS NULL`, now, p.Session, p.Annotator); err != nil {
				return err
			}
		}
		_, err := t.exec(`DELETE FROM meta WHERE key = ?`, scrubKey)
		return err
	})
}

// rewrite writes the database anew. Overwriting deleted content is not enough: when SQLite moves
// rows between pages, copies of them stay in the free space of a page.
func (db *upkeep) rewrite(ctx context.Context) error {
	return db.doBare(func(c *sql.Conn) error {
		_, err := c.ExecContext(ctx, `VACUUM`)
		return err
	})
}

// foldLog merges the write-ahead log into the database and truncates it. It returns an error of
// kind Unavailable while an earlier snapshot is read.
func (db *upkeep) foldLog(ctx context.Context) error {
	var busy, frames, folded int
	err := db.doBare(func(c *sql.Conn) (err error) {
		if _, err := c.ExecContext(ctx, fmt.Sprintf(`PRAGMA busy_timeout(%d)`, readersWait.Milliseconds())); err != nil {
			return err
		}
		defer func() {
			_, again := c.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf(`PRAGMA busy_timeout(%d)`, busyWait.Milliseconds()))
			err = errors.Join(err, again)
		}()
		return c.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &folded)
	})
	if err == nil && busy != 0 {
		err = idrl.Errorf(idrl.Unavailable, "an export, a long page or another program still reads the database as it was before")
	}
	return err
}
