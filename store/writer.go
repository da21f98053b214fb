package store

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"slices"
	"time"

	"tiebreak/internal/base/tally"
	"tiebreak/internal/idrl"
)

const (
	queueLen = 4096 // writes that may wait; further ones are refused
	groupLen = 256  // writes in one transaction

	patience = 20 * time.Millisecond // for which a patient write waits, and after an answer for which one does
)

// A request is one write. It is done completely or not at all.
type request struct {
	ctx context.Context // checked before the write begins, not during it
	do  func(*tx) error
	// repeats says that do changes nothing but the database, so that it may be run again after a
	// transaction was rolled back.
	repeats bool
	patient bool                  // it may wait for another to share a transaction with
	bare    func(*sql.Conn) error // instead of do: outside of a transaction
	err     error
	done    chan struct{} // closed when err is final
}

// do runs f in a transaction and returns when it is durable. An error of f undoes what f did and
// nothing else. It returns an error of kind Unavailable if too many writes wait, and ctx.Err() if
// ctx is done before the write begins: then nothing is recorded. Once it has begun it is completed,
// so that the result is always known.
func (db *file) do(ctx context.Context, f func(*tx) error) error {
	return db.await(&request{ctx: ctx, do: f, done: make(chan struct{})})
}

// doRepeatably is do for an f that changes nothing but the database. It may run f twice.
func (db *file) doRepeatably(ctx context.Context, f func(*tx) error) error {
	return db.await(&request{ctx: ctx, do: f, repeats: true, done: make(chan struct{})})
}

// doPatiently is doRepeatably for work in the background. While annotators answer it waits for up to patience, so
// that it shares the transaction of an answer in place of having one that answers wait for.
func (db *file) doPatiently(ctx context.Context, f func(*tx) error) error {
	return db.await(&request{ctx: ctx, do: f, repeats: true, patient: true, done: make(chan struct{})})
}

// doBare runs f on the connection that writes, outside of a transaction. Other writes wait
// meanwhile.
func (db *file) doBare(f func(*sql.Conn) error) error {
	return db.await(&request{bare: f, done: make(chan struct{})})
}

// await submits r and returns its error when that is final.
func (db *file) await(r *request) error {
	if err := db.submit(r); err != nil {
		return err
	}
	<-r.done
	return r.err
}

func (db *file) submit(r *request) error {
	if db.requests == nil {
		return idrl.Errorf(idrl.Forbidden, "the data folder %s was opened for reading only", db.dir)
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.closed {
		return idrl.Errorf(idrl.Unavailable, "the server is stopping; try again in a moment")
	}
	select {
	case db.requests <- r:
		return nil
	default:
		return idrl.Errorf(idrl.Unavailable, "the server has too much to write; try again in a moment")
	}
}

// A writer is run by one goroutine, which owns its connection.
type writer struct {
	tx
	requests <-chan *request
	alone    bool      // no other process writes
	answered time.Time // end of the last transaction with a write that is repeatable and not patient, as all of answers are
	health   *health
	sizes    *tally.Histogram // of transactions, in writes
}

// A tx is the database during a write: a connection and its prepared
// statements, by text.
type tx struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	wrote bool      // a row was changed since the transaction began
	head  *chainEnd // of the audit trail; nil: not read since the transaction, or a part of it, began or was undone
}

func newWriter(ctx context.Context, p *sql.DB, requests <-chan *request, h *health) (*writer, error) {
	c, err := p.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &writer{tx: tx{conn: c, stmts: map[string]*sql.Stmt{}}, requests: requests, health: h}, nil
}

// run serves requests until the channel is closed, then merges the write-ahead log into the
// database and returns its connection.
func (w *writer) run() {
	var group []*request
	for r := range w.requests {
		group = w.company(append(group[:0], r))
		runtime.Gosched() // what others are about to write shares the transaction
		for len(group) < groupLen && group[len(group)-1].bare == nil {
			select {
			case next, ok := <-w.requests:
				if ok {
					group = append(group, next)
					continue
				}
			default:
			}
			break
		}
		w.serve(group)
	}
	// Not required: the next Open recovers from the write-ahead log as well. While a server runs it
	// would delay the server's writes.
	if w.alone {
		_, _ = w.conn.ExecContext(context.Background(), `PRAGMA wal_checkpoint(TRUNCATE)`)
	}
	for _, s := range w.stmts {
		_ = s.Close()
	}
	_ = w.conn.Close()
}

// company returns group with the writes that came while all of it was patient. It does not wait unless annotators answer.
func (w *writer) company(group []*request) []*request {
	if !group[0].patient || time.Since(w.answered) > patience {
		return group
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for group[len(group)-1].patient && len(group) < groupLen {
		select {
		case next, ok := <-w.requests:
			if !ok {
				return group
			}
			group = append(group, next)
		case <-late.C:
			return group
		}
	}
	return group
}

// serve runs a group of requests in one transaction and replies to them. The last one may be bare.
func (w *writer) serve(group []*request) {
	if n := len(group) - 1; group[n].bare != nil {
		if n > 0 {
			w.serve(group[:n])
		}
		group[n].err = convert(group[n].bare(w.conn))
		close(group[n].done)
		return
	}
	w.wrote = false
	err := w.commit(group)
	fault := err
	for _, r := range group {
		if err != nil {
			r.err = err
		}
		if k := idrl.KindOf(r.err); k == idrl.Unavailable || k == idrl.Damaged { // an error of the disk; others are not
			fault = r.err
		}
	}
	if err == nil {
		w.sizes.Observe(float64(len(group)))
	}
	if fault != nil || w.wrote {
		w.health.done(fault)
	}
	for _, r := range group {
		if r.repeats && !r.patient {
			w.answered = time.Now()
		}
		close(r.done)
	}
}

// commit returns an error if the transaction failed as a whole. Errors of
// single requests are in the requests.
//
// In a savepoint SQLite copies each page before it changes it, which is a tenth of the work of an
// answer. So requests that may be run again are first carried out without savepoints. If one
// fails, which is rare, then all are undone and carried out again, each in its own.
func (w *writer) commit(group []*request) error {
	if err := w.control(`BEGIN IMMEDIATE`); err != nil {
		return convert(err)
	}
	if !slices.ContainsFunc(group, func(r *request) bool { return !r.repeats }) {
		if w.all(group) {
			return w.end()
		}
		_ = w.control(`ROLLBACK`) // fails where SQLite has done so itself
		w.wrote = false
		if err := w.control(`BEGIN IMMEDIATE`); err != nil {
			return convert(err)
		}
	}
	for _, r := range group {
		if err := w.one(r); err != nil {
			return w.rollback(err)
		}
	}
	return w.end()
}

// all runs the requests without savepoints, up to the first that fails. It reports whether none
// did.
func (w *writer) all(group []*request) bool {
	for _, r := range group {
		if r.err = r.ctx.Err(); r.err != nil {
			continue
		}
		if r.do(&w.tx) != nil {
			return false
		}
	}
	return true
}

// end makes the transaction durable.
func (w *writer) end() error {
	if err := w.control(`COMMIT`); err != nil {
		return w.rollback(err)
	}
	return nil
}

// rollback undoes the transaction. SQLite may have done so itself, for example on a full disk.
func (w *writer) rollback(cause error) error {
	_ = w.control(`ROLLBACK`)
	return convert(cause)
}

// one runs a request in a savepoint. It returns an error if the transaction is lost.
func (w *writer) one(r *request) error {
	if r.err = r.ctx.Err(); r.err != nil {
		return nil //nolint:nilerr // the request is lost, not the transaction
	}
	if err := w.control(`SAVEPOINT request`); err != nil {
		return err
	}
	if err := r.do(&w.tx); err != nil {
		r.err = convert(err)
		if lost := w.control(`ROLLBACK TO request`); lost != nil {
			return errors.Join(err, lost)
		}
	}
	return w.control(`RELEASE request`)
}

// exec runs a statement and returns the number of rows it changed. It takes no
// context, because an interrupted statement would undo its neighbours too.
func (t *tx) exec(query string, args ...any) (int64, error) {
	s, err := t.prepare(query) //nolint:sqlclosecheck // kept for the next transaction; the writer closes it
	if err != nil {
		return 0, err
	}
	res, err := s.Exec(args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	t.wrote = t.wrote || n > 0
	return n, err
}

// control runs a statement that begins or ends a transaction or a part of one.
func (t *tx) control(statement string) error {
	if statement != `COMMIT` && statement != `RELEASE request` {
		t.head = nil
	}
	s, err := t.prepare(statement) //nolint:sqlclosecheck // kept for the next transaction; the writer closes it
	if err != nil {
		return err
	}
	_, err = s.Exec()
	return err
}

// row runs a query that yields at most one row.
func (t *tx) row(query string, args ...any) scanner {
	s, err := t.prepare(query) //nolint:sqlclosecheck // kept for the next transaction; the writer closes it
	if err != nil {
		return failed{err}
	}
	return s.QueryRow(args...)
}

func (t *tx) prepare(query string) (*sql.Stmt, error) {
	if s := t.stmts[query]; s != nil {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	t.stmts[query] = s
	return s, nil
}

// A scanner is a row.
type scanner interface{ Scan(dst ...any) error }

type failed struct{ err error }

func (f failed) Scan(...any) error { return f.err }
