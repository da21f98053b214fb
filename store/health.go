package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Probes of the disk.
const (
	freshFor   = 10 * time.Second // after a successful write, for which no probe is needed
	probeEvery = 5 * time.Second  // at most, however often problems are asked for
	probeWait  = 2 * time.Second  // after which an unfinished probe counts as failed
	probeSize  = 5000             // bytes: more than a page
	minFree    = 64 << 20         // bytes: the maximal size of the write-ahead log (journal_size_limit), or some 20,000 answers
)

// health holds the last known state of the disk and the database.
type health struct {
	mu     sync.Mutex    // guards all of it
	wrote  time.Time     // last successful write
	fault  error         // of the last write, if it failed and none has succeeded since
	probe  chan struct{} // closed when the present probe has ended; nil if there is none
	probed time.Time     // start of the last probe
	turn   int           // which of two rows is there: 0 or 1
	damage Damage        // findings of the last check
	backup string        // why the last scheduled backup failed; empty if it did not
	owed   string        // what prevents the erasing of withdrawn data; empty if nothing does

	// freshFor, probeEvery and freeSpace; tests replace them.
	fresh, every time.Duration
	free         func(dir string) (bytes uint64, known bool)
}

func newHealth() *health {
	return &health{fresh: freshFor, every: probeEvery, free: freeSpace}
}

// done records the end of a transaction that wrote something, or failed to.
func (h *health) done(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fault = err; err == nil {
		h.wrote = time.Now()
	}
}

// found records the result of a check.
func (h *health) found(d Damage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.damage = d
}

// hindered records the number of people whose data are still to be erased, and the reason.
func (h *health) hindered(people int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.owed = ""; err != nil && people > 0 {
		h.owed = fmt.Sprintf("data of %d people who withdrew are still in files of the server: %s", people, reason(err))
	}
}

// backedUp records the result of a scheduled backup.
func (h *health) backedUp(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.backup = ""; err != nil {
		h.backup = "the last scheduled backup failed; the server's log says why"
	}
}

// Problems returns the reasons why the server cannot do all of its work; none if it can. It writes
// a few bytes, at most every probeEvery, if nothing was written lately.
func (db *file) Problems(ctx context.Context) (out []record.Problem) {
	if err := db.writable(ctx); err != nil {
		out = append(out, record.Problem{
			Reason: "no answer can be recorded: " + reason(err),
			Advice: "Annotators' pages keep their answers and send them as soon as the disk works again. Reading and exporting still work. " +
				"Check the disk of the data folder; no restart is needed.",
		})
	}
	if free, known := db.health.free(db.dir); known && free < minFree {
		out = append(out, record.Problem{
			Reason: fmt.Sprintf("the disk is nearly full: %d MiB are free, and %d are needed", free>>20, minFree>>20),
			Advice: "Free space on the disk of the data folder; no restart is needed.",
		})
	}
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	d := db.health.damage
	if len(d.Pages) > 0 {
		out = append(out, record.Problem{
			Reason: "the database is damaged: " + first(d.Pages),
			Advice: "The server still serves and exports what it can read: export every session now. " +
				"Then stop the server and run “tiebreak doctor --data DIR”, which says how to go back to a backup, and how to save what can be read.",
		})
	}
	if n := len(d.Clips); n > 0 {
		out = append(out, record.Problem{
			Reason: fmt.Sprintf("damaged clips: %d, the first is %s", n, d.Clips[0]), Minor: true,
			Advice: "They are not shown; annotators can report them and go on. Answers are not affected. “tiebreak doctor --data DIR” lists them.",
		})
	}
	if db.health.owed != "" {
		out = append(out, record.Problem{
			Reason: db.health.owed, Minor: true,
			Advice: "The server tries again by itself until nothing is left. Exports and other programs that read the database, such as sqlite3, have to end first.",
		})
	}
	if db.health.backup != "" {
		out = append(out, record.Problem{
			Reason: db.health.backup, Minor: true,
			Advice: "The server tries again every ten minutes. It needs room for two copies of the database in the folder of its backups. Answers are not affected.",
		})
	}
	if n := len(d.Steps); n > 0 {
		out = append(out, record.Problem{
			Reason: fmt.Sprintf("damaged raw steps: %d, the first are %s", n, d.Steps[0]), Minor: true,
			Advice: "Exports of raw steps stop at them. Labelling and answers are not affected. “tiebreak doctor --data DIR” lists them.",
		})
	}
	return out
}

// first returns the first of a list, and the number of others.
func first(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return fmt.Sprintf("%s; and %d more", list[0], len(list)-1)
}

// reason returns the part of an error that is for people.
func reason(err error) string {
	var e *idrl.Error
	if !errors.As(err, &e) {
		return "the database refused a write; the server's log says why"
	}
	text, _, _ := strings.Cut(e.Msg, ";") // the advice for annotators follows
	return text
}

// writable returns nil if a write succeeded lately, or a probe does now.
func (db *file) writable(ctx context.Context) error {
	h := db.health
	h.mu.Lock()
	if h.fault == nil && time.Since(h.wrote) < h.fresh {
		h.mu.Unlock()
		return nil
	}
	if h.probe == nil && time.Since(h.probed) >= h.every {
		h.probe, h.probed = make(chan struct{}), time.Now()
		go db.probe(h.probe)
	}
	probe, left := h.probe, probeWait-time.Since(h.probed)
	h.mu.Unlock()
	if probe != nil {
		wait := time.NewTimer(left)
		defer wait.Stop()
		select {
		case <-probe:
		case <-wait.C:
			return idrl.Errorf(idrl.Unavailable, "a write has not ended after %v", probeWait)
		case <-ctx.Done():
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fault
}

// probe writes as answers do: it takes a new page, and frees the one before.
func (db *file) probe(ended chan struct{}) {
	h := db.health
	h.mu.Lock()
	there, next := h.turn, 1-h.turn
	h.mu.Unlock()
	err := db.do(context.Background(), func(t *tx) error {
		const insert = `INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`
		if _, err := t.exec(insert, fmt.Sprint("probe ", next), strings.Repeat("-", probeSize)); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM meta WHERE key = ?`, fmt.Sprint("probe ", there))
		return err
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.turn = next
	} else { // the writer may not have received it
		h.fault = err
	}
	h.probe = nil
	close(ended)
}
