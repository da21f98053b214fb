package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/tally"
	"tiebreak/internal/idrl"

	_ "modernc.org/sqlite"

	// the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// FileName is the name of the database within a data folder.
const FileName = "tiebreak.db"

// DB is an open data folder. Its methods may be called from any goroutine.
type DB struct {
	*file
	journal
	participants
	access
	studies
	researching
	queue
	*upkeep
}

// A file is an open database with its writer: the common part of a DB.
type file struct {
	dir   string
	read  *sql.DB
	write *sql.DB // one connection, owned by the writer; nil if read-only
	lock  *sql.DB // locks the data folder; nil if read-only

	requests chan *request // to the writer
	finished chan struct{} // closed when the writer has returned

	health *health
	sizes  *tally.Histogram // of transactions, in writes
	owes   chan struct{}    // data were withdrawn

	mu     sync.RWMutex // guards closed, and requests against a send after close
	closed bool
}

// Parts of a DB.
type (
	journal      struct{ *file } // logs, generations, clips and steps of sessions
	participants struct{ *file } // annotators, consent, and withdrawal of data
	access       struct{ *file } // links, logins, tokens, and keys of browsers
	studies      struct{ *file } // sessions, and their settings by researchers
	researching  struct{ *file } // what researchers keep beside sessions, and are told of them
	queue        struct{ *file } // trainings that wait or run
)

// An upkeep maintains the data folder: checks, backups, imports, and the erasing of withdrawn data.
type upkeep struct {
	*file
	erasing   sync.Mutex // guards rewritten, and the files of the folder while they are searched
	rewritten int        // people who had withdrawn when the database was rewritten last
	unerase   func()     // ends the goroutine that erases, and waits for it; nil if there is none
}

func newDB(f *file) *DB {
	return &DB{file: f, journal: journal{f}, participants: participants{f}, access: access{f}, studies: studies{f}, researching: researching{f}, queue: queue{f}, upkeep: &upkeep{file: f}}
}

var _ record.Journal = (*DB)(nil)

// Open opens the data folder dir for a server. It creates the folder (mode
// 0700) and the database if they do not exist, locks the folder, removes the remains of
// killed imports and backups, and applies pending migrations, with a backup before the
// first. Until Close it erases withdrawn data from the files in the background (Erase).
// The caller must Close the result.
//
// It returns an error of kind Invalid if dir is not a writable folder or was
// written by a newer version, of kind Conflict if another server uses it, and of
// kind Damaged, with what to do, if its database is missing, empty or malformed.
func Open(ctx context.Context, dir string) (*DB, error) {
	db, err := open(ctx, dir, migrations())
	if err != nil {
		return nil, err
	}
	if err := db.sweepAgents(ctx); err != nil && idrl.KindOf(err) != idrl.Damaged { // as for jobs
		return nil, errors.Join(err, db.Close())
	}
	db.startErasing(context.WithoutCancel(ctx))
	return db, nil
}

// startErasing starts the goroutine that erases. Close ends it.
func (db *upkeep) startErasing(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { db.keepErasing(ctx) })
	done.Go(func() { _ = db.chainOld(ctx) }) // the next start goes on; 'tiebreak audit verify' says how many rows wait
	db.unerase = func() {
		cancel()
		done.Wait()
	}
}

func open(ctx context.Context, dir string, steps fs.FS) (_ *DB, err error) {
	db := newDB(&file{dir: dir, requests: make(chan *request, queueLen), finished: make(chan struct{}), health: newHealth(), sizes: newSizes(), owes: make(chan struct{}, 1)})
	defer func() {
		if err != nil {
			err = errors.Join(unopened(dir, err), db.closePools())
		}
	}()
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	if err := makePrivate(dir); err != nil {
		return nil, err
	}
	if db.lock, err = lockFolder(ctx, dir); err != nil {
		return nil, err
	}
	removeScratch(ctx, dir)
	if err := removePartial(filepath.Join(dir, backupFolder)); err != nil {
		return nil, err
	}
	if err := checkStudy(ctx, dir, steps); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, FileName)
	if db.write, err = openPool(ctx, path, false); err != nil {
		return nil, err
	}
	db.write.SetMaxOpenConns(1)
	if err := migrate(ctx, db.write, dir, steps); err != nil {
		return nil, err
	}
	if db.read, err = openPool(ctx, path, true); err != nil {
		return nil, err
	}
	if err := db.quickCheck(ctx); err != nil {
		return nil, err
	}
	if err := releaseJobs(ctx, db.write); err != nil && idrl.KindOf(err) != idrl.Damaged { // the readable part is served
		return nil, err
	}
	return db, db.startWriter(ctx)
}

// startWriter starts the goroutine that writes. Close ends it.
func (db *file) startWriter(ctx context.Context) error {
	w, err := newWriter(ctx, db.write, db.requests, db.health)
	if err != nil {
		return err
	}
	w.alone, w.sizes = db.lock != nil, db.sizes
	go func() {
		defer close(db.finished)
		w.run()
	}()
	return nil
}

// OpenBeside opens the data folder dir for a command that changes little, also while a server uses
// it: it neither locks nor upgrades the folder. The errors are those of OpenReadOnly.
func OpenBeside(ctx context.Context, dir string) (_ *DB, err error) {
	db, err := OpenReadOnly(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(unopened(dir, err), db.closePools())
		}
	}()
	if db.write, err = openPool(ctx, filepath.Join(dir, FileName), false); err != nil {
		return nil, err
	}
	db.write.SetMaxOpenConns(1)
	db.requests, db.finished = make(chan *request, queueLen), make(chan struct{})
	return db, db.startWriter(ctx)
}

// OpenReadOnly opens the data folder dir for reading, also while a server uses
// it. It changes nothing in the database; writing through it returns an error
// of kind Forbidden. It returns an error of kind NotFound if dir holds no
// database, and of kind Invalid if the database has another version.
func OpenReadOnly(ctx context.Context, dir string) (_ *DB, err error) {
	db := newDB(&file{dir: dir, health: newHealth(), sizes: newSizes()})
	defer func() {
		if err != nil {
			err = errors.Join(unopened(dir, err), db.closePools())
		}
	}()
	if err := checkExists(dir); err != nil {
		return nil, err
	}
	if db.read, err = openPool(ctx, filepath.Join(dir, FileName), true); err != nil {
		return nil, err
	}
	if err := checkMatches(ctx, db.read, dir, migrations()); err != nil {
		return nil, err
	}
	return db, nil
}

// unopened names the folder that could not be opened, and says what to do if its database is
// damaged.
func unopened(dir string, err error) error {
	err = fmt.Errorf("open data folder %s: %w", dir, err)
	if idrl.KindOf(err) == idrl.Damaged {
		err = fmt.Errorf("%w\n%s", err, advice(dir))
	}
	return err
}

// Dir returns the data folder.
func (db *DB) Dir() string { return db.dir }

// Close waits until the running writes are durable and closes the database.
func (db *DB) Close() error {
	if db.unerase != nil {
		db.unerase()
	}
	db.mu.Lock()
	again := db.closed
	db.closed = true
	if !again && db.requests != nil {
		close(db.requests)
	}
	db.mu.Unlock()
	if again {
		return nil
	}
	if db.finished != nil {
		<-db.finished
	}
	return db.closePools()
}

func (db *file) closePools() error {
	var errs []error
	for _, p := range []*sql.DB{db.read, db.write, db.lock} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}

// busyWait is how long a statement waits for another process.
const busyWait = 5 * time.Second

// openPool opens the database file at path and checks that SQLite is sound.
func openPool(ctx context.Context, path string, readOnly bool) (*sql.DB, error) {
	v := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyWait.Milliseconds()), "foreign_keys(1)", "trusted_schema(0)"}}
	if readOnly {
		v.Set("mode", "ro")
		v.Add("_pragma", "query_only(1)")
	} else {
		v.Set("_txlock", "immediate")
		// The write-ahead log is merged into the database at 16 MB instead of 4 MB: merging delays
		// commits, and writes each page once, however often it is in the log.
		v["_pragma"] = append(v["_pragma"], "journal_mode(WAL)", "synchronous(FULL)", "wal_autocheckpoint(4000)", "journal_size_limit(67108864)", "secure_delete(1)")
	}
	p, err := sql.Open("sqlite", dsn(path, v))
	if err != nil {
		return nil, err
	}
	if err := checkSound(ctx, p); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// dsn is the address of the database file at path, which may contain any character.
func dsn(path string, v url.Values) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: v.Encode()}
	return u.String()
}

// SQLiteVersion returns the version of SQLite in this program: "3.51.3".
func SQLiteVersion() string { return sqlite3.SQLITE_VERSION }

// checkSound refuses the releases of SQLite in which two connections that
// commit and checkpoint at once can corrupt the database (the WAL-reset bug).
func checkSound(ctx context.Context, p *sql.DB) error {
	var version string
	if err := p.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version); err != nil {
		return convert(err)
	}
	if !sound(version) {
		return idrl.Errorf(idrl.Invalid, "SQLite %s can corrupt a database under load; build with 3.51.3 or later", version)
	}
	return nil
}

func sound(version string) bool {
	var major, minor, patch int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return false
	}
	return major*1e6+minor*1e3+patch >= 3_051_003
}
