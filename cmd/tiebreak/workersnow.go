package main

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/training"
	"tiebreak/templates"
)

// workerReports is the web's view of those that do training jobs.
type workerReports struct{ a *app }

// Report implements web.Workers.
func (w workerReports) Report(ctx context.Context) (record.WorkerReport, error) {
	bars, err := w.a.db.WorkerBars(ctx)
	if err != nil {
		return record.WorkerReport{}, err
	}
	titles := map[idrl.SessionID]string{}
	title := func(id idrl.SessionID) string {
		if _, known := titles[id]; !known {
			spec, _ := w.a.db.Spec(ctx, id) // without a title, the id is shown
			titles[id] = spec.Title
		}
		return titles[id]
	}
	reporter := elsewhere.Reporter{Hub: w.a.away.known(), Pool: w.a.pool, Title: title}
	if w.a.idle {
		reporter.Wants = func() [][]string { return training.Wants(w.a.envs()) }
	}
	r := reporter.Report(bars)
	r.At = time.Now().UTC()
	return r, nil
}

// Bar implements web.Workers.
func (w workerReports) Bar(ctx context.Context, b record.WorkerBar) error {
	if err := w.a.db.BarWorker(ctx, b); err != nil {
		return err
	}
	w.a.bars.Changed()
	if w.a.away != nil && b.Bar == record.WorkerAllowed {
		w.a.away.hub.Pardon(b.Worker)
	}
	return nil
}

// keepEvery is how often at most a server records what it knows of its workers.
const keepEvery = 2 * time.Second

// keepWorkers records what the server knows of workers on other machines whenever that changes, for 'tiebreak workers', and
// pardons workers that this command allows, until ctx is done.
func (a *app) keepWorkers(ctx context.Context) {
	defer a.forgetWorkers(context.WithoutCancel(ctx))
	if a.away == nil && !a.idle {
		return
	}
	var kept []byte
	pardoned, tick := map[string]time.Time{}, time.NewTicker(keepEvery)
	defer tick.Stop()
	for began := time.Now(); ; {
		r, err := workerReports{a}.Report(ctx)
		if err == nil {
			a.pardon(r.Bars, began, pardoned)
			kept, err = a.keepReport(ctx, r, kept)
		}
		if err != nil && ctx.Err() == nil {
			a.log.ErrorContext(ctx, "record what workers do", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// keepReport records a report, unless it differs from the last one, kept, in its time only. It returns what is recorded.
func (a *app) keepReport(ctx context.Context, r record.WorkerReport, kept []byte) ([]byte, error) {
	at := r.At
	r.At, r.Bars = time.Time{}, nil
	now, err := json.Marshal(r)
	if err != nil || bytes.Equal(now, kept) {
		return kept, err
	}
	r.At = at
	if err := a.db.KeepWorkers(ctx, &r); err != nil {
		return kept, err
	}
	return now, nil
}

// pardon pardons the workers that were allowed after a time, each once.
func (a *app) pardon(bars []record.WorkerBar, after time.Time, pardoned map[string]time.Time) {
	for _, b := range bars {
		if a.away != nil && b.Bar == record.WorkerAllowed && b.At.After(after) && !pardoned[b.Worker].Equal(b.At) {
			pardoned[b.Worker] = b.At
			a.away.hub.Pardon(b.Worker)
		}
	}
}

// forgetWorkers has commands see that no server knows of workers, also after one that was killed.
func (a *app) forgetWorkers(ctx context.Context) {
	r, err := a.db.Workers(ctx)
	if err == nil && r.At.IsZero() {
		return
	}
	if err := a.db.KeepWorkers(ctx, nil); err != nil {
		a.log.ErrorContext(ctx, "forget what workers do", "err", err)
	}
}

// workerStarts are the ways to have workers on other machines.
func workerStarts() []templates.WorkerStart {
	return []templates.WorkerStart{
		{
			By:    "Over the network, with a key that '" + commandLine("worker-key", "NAME", "--data", "FOLDER") + "' makes",
			Serve: commandLine("serve", "--nats-listen", "0.0.0.0:4222"), Worker: "tiebreak worker --nats nats://HOST:4222 --credentials NAME.nkey",
		},
		{By: "With a folder that all machines share", Serve: commandLine("serve", "--folder", "FOLDER"), Worker: "tiebreak worker --folder FOLDER"},
	}
}
