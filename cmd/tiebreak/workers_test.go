package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/carriertest"
	"tiebreak/store"
)

// The command shows what a server that runs knows of its workers, with what researchers say of them.
func TestWorkersCommand(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	db, err := store.Open(t.Context(), data) // as a server does
	if err != nil {
		t.Fatal(err)
	}
	list := func(args ...string) string {
		t.Helper()
		status, out, errs := cli(t, append([]string{"workers", "--data", data}, args...)...)
		if status != 0 || errs != "" {
			t.Fatalf("workers: status %d, %s", status, errs)
		}
		return out
	}
	if out := list(); !strings.Contains(out, "worker --folder FOLDER") || !strings.Contains(out, "serve --nats-listen") {
		t.Errorf("without workers it does not teach:\n%s", out)
	}
	at := time.Now().UTC()
	job := record.WorkerJob{Session: "s", Title: "Walk", Kind: "train", Since: at}
	report := record.WorkerReport{
		At: at, Elsewhere: true,
		Workers: []record.WorkerState{{Name: "lab7", Host: "seven", Cores: 8, Memory: 2048, Version: "v1", Since: at, Slots: 1, Doing: []record.WorkerJob{job}, Done: 4}},
		Waiting: []record.WaitingJob{{WorkerJob: job, Why: "all workers are busy"}},
	}.WithBars(nil)
	must.Do(t, db.KeepWorkers(t.Context(), &report))
	holds := func(out string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(out, part) {
				t.Errorf("%q is not in\n%s", part, out)
			}
		}
	}
	holds(list(), "lab7", "seven, 8 cores, 2.0 GiB", "Walk: training, since", "works", "all workers are busy")
	act := func(args ...string) string {
		t.Helper()
		status, out, errs := cli(t, append([]string{"workers", args[0], "--data", data}, args[1:]...)...)
		if status != 0 {
			t.Fatalf("workers %v: status %d, %s", args, status, errs)
		}
		return out
	}
	if out := act("drain", "lab7", "--why", "It is needed."); strings.Contains(out, "is there now") {
		t.Errorf("lab7 is there, but:\n%s", out)
	}
	holds(act("ban", "lab8"), "lab8 is banned", "No worker of that name is there now")
	holds(list(), "drained: finishes its job, and gets no other (by command line", "It is needed.", "NOT THERE NOW", "lab8")
	var got record.WorkerReport
	if err := json.Unmarshal([]byte(list("--json")), &got); err != nil || len(got.Workers) != 1 || got.Workers[0].State != record.WorkerFinishing || len(got.Bars) != 2 {
		t.Errorf("as JSON: %+v, %v", got, err)
	}
	act("open", "lab7")
	act("open", "lab8")
	if out := list(); strings.Contains(out, "drained") || strings.Contains(out, "lab8") {
		t.Errorf("when both are allowed:\n%s", out)
	}
	for _, wrong := range [][]string{{"drain"}, {"ban", "a.b"}, {"ban", "lab7", "--why", strings.Repeat("x", 301)}} {
		if status, _, errs := cli(t, append([]string{"workers", wrong[0], "--data", data}, wrong[1:]...)...); status == 0 {
			t.Errorf("workers %v: status 0, %s", wrong, errs)
		}
	}
	if err := db.Close(); err != nil { // as if it was killed: the report stays
		t.Fatal(err)
	}
	if out := list(); strings.Contains(out, "lab7") || !strings.Contains(out, "No server that takes workers") {
		t.Errorf("when no server runs:\n%s", out)
	}
}

// A server keeps what it knows of a worker that offers itself, for the command beside it, and takes it back when it ends.
func TestServerKeepsWorkers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	a := must.Get(openApp(t.Context(), data, envs.Catalogue, site{}, slog.New(slog.DiscardHandler), os.Args[0]))(t)
	t.Cleanup(func() { _ = a.close() })
	network := &carriertest.Network{}
	hub := elsewhere.NewHub(elsewhere.HubConfig{Pool: a.pool, Version: "v1", Barred: a.bars.Of, Log: a.log})
	a.away = &workplace{hub: hub, stop: func() {}}
	agent := must.Get(elsewhere.NewAgent(elsewhere.AgentConfig{
		Carrier: network.Dial(), Offer: elsewhere.Offer{Worker: "lab7", Host: "seven\x1b[2J", Version: "v1", Cores: 8},
		Command: func(string) []string { return []string{os.Args[0]} }, Here: 50 * time.Millisecond, Log: a.log,
	}))(t)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _ = hub.Run(ctx, network.Dial()) })
	all.Go(func() { _ = agent.Run(ctx) })
	all.Go(func() { a.keepWorkers(ctx) })
	shows := func(what string) string {
		t.Helper()
		var out string
		waittest.Until(t, "the command to show "+what, func() bool {
			_, out, _ = cli(t, "workers", "--data", data)
			return strings.Contains(out, what)
		})
		return out
	}
	if out := shows("lab7"); strings.Contains(out, "\x1b") || !strings.Contains(out, "waits for a job") {
		t.Errorf("it shows\n%s", out)
	}
	must.Do(t, (workerReports{a}).Bar(ctx, record.WorkerBar{Worker: "lab7", Bar: record.WorkerBanned, Who: "Ada", At: time.Now(), Why: "broken"}))
	shows("banned: gets no jobs (by Ada")
	if got := hub.States(); len(got) != 1 || got[0].Barred != record.WorkerBanned {
		t.Errorf("the hub has %+v", got)
	}
	if status, _, errs := cli(t, "workers", "open", "lab7", "--data", data); status != 0 {
		t.Fatal(errs)
	}
	shows("waits for a job")
	stop()
	all.Wait()
	if r, err := a.db.Workers(t.Context()); err != nil || !r.At.IsZero() {
		t.Errorf("when the server has ended: %+v, %v", r, err)
	}
}
