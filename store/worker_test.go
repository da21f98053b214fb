package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// rawly opens the database of a data folder without the store.
func rawly(t *testing.T, dir string) *sql.DB {
	t.Helper()
	p := must.Get(sql.Open("sqlite", filepath.Join(dir, store.FileName)))(t)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// What researchers say of workers survives a restart, is seen beside a server, and is in the audit trail.
func TestWorkerBars(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	db := open(t, dir)
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	bar := func(worker, bar, why string) record.WorkerBar {
		return record.WorkerBar{Worker: worker, Bar: bar, Who: "Ada", At: at, Why: why}
	}
	must.Do(t, db.BarWorker(ctx, bar("w2", record.WorkerDrained, "the machine is needed")))
	must.Do(t, db.BarWorker(ctx, bar("w1", record.WorkerDrained, "")))
	must.Do(t, db.BarWorker(ctx, bar("w1", record.WorkerBanned, "it is broken")))
	must.Do(t, db.BarWorker(ctx, bar("w3", record.WorkerBanned, "")))
	must.Do(t, db.UnbarWorker(ctx, "w3", "Bo", at.Add(time.Second)))
	must.Do(t, db.Close())

	db = open(t, dir)
	beside := must.Get(store.OpenBeside(ctx, dir))(t)
	defer beside.Close()
	want := fmt.Sprint([]record.WorkerBar{
		bar("w1", record.WorkerBanned, "it is broken"), bar("w2", record.WorkerDrained, "the machine is needed"),
		{Worker: "w3", Bar: record.WorkerAllowed, Who: "Bo", At: at.Add(time.Second)},
	})
	for _, from := range []*store.DB{db, beside} {
		got, err := from.WorkerBars(ctx)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	var acts []string
	rows := must.Get(rawly(t, dir).QueryContext(ctx, `SELECT actor || ' ' || action || ' ' || object FROM audit WHERE session_id IS NULL ORDER BY id`))(t)
	defer rows.Close()
	for rows.Next() {
		var act string
		must.Do(t, rows.Scan(&act))
		acts = append(acts, act)
	}
	must.Do(t, rows.Err())
	if got, want := strings.Join(acts, "; "), "Ada drain worker w2: the machine is needed; Ada drain worker w1; Ada ban worker w1: it is broken; Ada ban worker w3; Bo allow worker w3"; got != want {
		t.Errorf("audit: %s, want %s", got, want)
	}
}

// What is said of workers is bounded.
func TestWorkerBarsAreBounded(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	db := open(t, dir)
	good := record.WorkerBar{Worker: "w", Bar: record.WorkerBanned, Who: "Ada", At: time.Now()}
	for name, change := range map[string]func(*record.WorkerBar){
		"no name":               func(b *record.WorkerBar) { b.Worker = "" },
		"a long name":           func(b *record.WorkerBar) { b.Worker = strings.Repeat("w", 65) },
		"a dot":                 func(b *record.WorkerBar) { b.Worker = "w.1" },
		"another bar":           func(b *record.WorkerBar) { b.Bar = "slow" },
		"a long reason":         func(b *record.WorkerBar) { b.Why = strings.Repeat("ä", record.MaxWorkerWhy+1) },
		"a reason of two lines": func(b *record.WorkerBar) { b.Why = "a\nb" },
		"broken text":           func(b *record.WorkerBar) { b.Why = "\xff" },
	} {
		b := good
		change(&b)
		if err := db.BarWorker(ctx, b); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	good.Why = strings.Repeat("ä", record.MaxWorkerWhy)
	must.Do(t, db.BarWorker(ctx, good))

	fill := rawly(t, dir)
	const many = `
		WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO worker_bar SELECT ? || i, ?, 'Ada', '2026-01-01T00:00:00.000000000Z', '' FROM n`
	exec := func(args ...any) {
		t.Helper()
		must.Get(fill.ExecContext(ctx, many, args...))(t)
	}
	exec(record.MaxWorkerBars-2, "banned", record.WorkerBanned)
	exec(1, "allowed", record.WorkerAllowed)
	more := record.WorkerBar{Worker: "more", Bar: record.WorkerDrained, Who: "Ada", At: time.Now()}
	must.Do(t, db.BarWorker(ctx, more)) // in the place of the one that is allowed
	more.Worker = "evenmore"
	if err := db.BarWorker(ctx, more); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("beyond the limit: %v", err)
	}
	must.Do(t, db.UnbarWorker(ctx, "banned1", "Ada", time.Now()))
	must.Do(t, db.BarWorker(ctx, more))
	list := must.Get(db.WorkerBars(ctx))(t)
	if len(list) != record.MaxWorkerBars {
		t.Errorf("%d bars, want %d", len(list), record.MaxWorkerBars)
	}
}

// A command that opens the data folder beside a server sees what that has kept of its workers, with what researchers say now.
func TestKeptWorkers(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	db := open(t, dir)
	beside, err := store.OpenBeside(ctx, dir)
	must.Do(t, err)
	defer beside.Close()
	if r, err := beside.Workers(ctx); err != nil || !r.At.IsZero() || len(r.Workers) != 0 {
		t.Errorf("before the first: %+v, %v", r, err)
	}
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	must.Do(t, db.KeepWorkers(ctx, &record.WorkerReport{At: at, Elsewhere: true, Workers: []record.WorkerState{{Name: "w1", Cores: 8, State: record.WorkerFree}}}))
	must.Do(t, beside.BarWorker(ctx, record.WorkerBar{Worker: "w1", Bar: record.WorkerDrained, Who: "command line", At: at}))
	r, err := beside.Workers(ctx)
	if err != nil || !r.At.Equal(at) || !r.Elsewhere || len(r.Workers) != 1 || r.Workers[0].State != record.WorkerDrained || r.Workers[0].Cores != 8 {
		t.Errorf("%+v, %v", r, err)
	}
	if served, err := beside.Served(ctx); err != nil || !served {
		t.Errorf("served: %v, %v", served, err)
	}
	must.Do(t, db.KeepWorkers(ctx, nil))
	must.Do(t, db.Close())
	if r, err := beside.Workers(ctx); err != nil || !r.At.IsZero() || len(r.Workers) != 0 {
		t.Errorf("after the server ended: %+v, %v", r, err)
	}
	if served, err := beside.Served(ctx); err != nil || served {
		t.Errorf("served when it has ended: %v, %v", served, err)
	}
}
