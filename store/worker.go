package store

import (
	"context"
	"encoding/json"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// workersKey is the key in meta of the last report on workers.
const workersKey = "workers"

// workerActs are the actions in the audit trail.
var workerActs = map[string]string{record.WorkerDrained: "drain worker", record.WorkerBanned: "ban worker", record.WorkerAllowed: "allow worker"}

// BarWorker records what a researcher says of a worker, in place of what was said before; b.At is the time of the act. No worker
// of that name has to be known. It returns an error of kind Invalid if b is not valid, and of kind Conflict if too many workers
// are drained or banned.
func (db queue) BarWorker(ctx context.Context, b record.WorkerBar) error {
	if err := b.Validate(); err != nil {
		return err
	}
	if err := checkTime(b.At); err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		if err := t.roomForBar(b.Worker); err != nil {
			return err
		}
		const upsert = `
			INSERT INTO worker_bar (worker, bar, who, at, why) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (worker) DO UPDATE SET bar = excluded.bar, who = excluded.who, at = excluded.at, why = excluded.why`
		if _, err := t.exec(upsert, b.Worker, b.Bar, b.Who, encodeTime(b.At), b.Why); err != nil {
			return err
		}
		object := b.Worker
		if b.Why != "" {
			object += ": " + b.Why
		}
		return t.audit(b.At, "", b.Who, workerActs[b.Bar], object)
	})
}

// UnbarWorker records that a worker may have jobs again.
func (db queue) UnbarWorker(ctx context.Context, worker, actor string, now time.Time) error {
	return db.BarWorker(ctx, record.WorkerBar{Worker: worker, Bar: record.WorkerAllowed, Who: actor, At: now})
}

// roomForBar makes room for a row about a worker. Rows that allow one have no effect but when they come, and are left out first.
func (t *tx) roomForBar(worker string) error {
	const others = `SELECT count(*) FROM worker_bar WHERE worker <> ?`
	var n int
	if err := t.row(others, worker).Scan(&n); err != nil || n < record.MaxWorkerBars {
		return err
	}
	if _, err := t.exec(`DELETE FROM worker_bar WHERE bar = 'allowed'`); err != nil {
		return err
	}
	if err := t.row(others, worker).Scan(&n); err != nil || n < record.MaxWorkerBars {
		return err
	}
	return idrl.Errorf(idrl.Conflict, "%d workers are drained or banned, which is the limit; allow some of them first", n)
}

// WorkerBars returns what researchers said of workers last, by worker.
func (db queue) WorkerBars(ctx context.Context) (out []record.WorkerBar, err error) {
	err = each(ctx, db.read, func(row scanner) error {
		var b record.WorkerBar
		err := row.Scan(&b.Worker, &b.Bar, &b.Who, timeColumn{&b.At}, &b.Why)
		out = append(out, b)
		return err
	}, `SELECT worker, bar, who, at, why FROM worker_bar ORDER BY worker`)
	return out, err
}

// KeepWorkers records what the server knows of its workers, for commands that open the data folder beside it; nil: it does not
// run. What researchers say of them is not part of it.
func (db queue) KeepWorkers(ctx context.Context, r *record.WorkerReport) error {
	if r == nil {
		return db.SetMeta(ctx, workersKey, "")
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return db.SetMeta(ctx, workersKey, string(text))
}

// Workers returns the last report on workers, with what researchers say of them now. It has the zero time if no server that takes
// workers on other machines has run since the last one ended orderly.
func (db queue) Workers(ctx context.Context) (r record.WorkerReport, err error) {
	text, err := db.Meta(ctx, workersKey)
	if err != nil {
		return r, err
	}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return r, idrl.Errorf(idrl.Damaged, "the report on workers is damaged: %v", err)
		}
	}
	bars, err := db.WorkerBars(ctx)
	return r.WithBars(bars), err
}

// Served reports whether a server uses the data folder now. It takes the lock of the folder for an instant if none does.
func (db *file) Served(ctx context.Context) (bool, error) {
	lock, err := lockFolder(ctx, db.dir)
	if idrl.KindOf(err) == idrl.Conflict {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Close()
}
