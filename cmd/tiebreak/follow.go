package main

import (
	"context"
	"log/slog"
	"time"
)

const (
	// followEvery is how often a server checks for changes that commands made.
	followEvery = time.Second

	// followWithin is the time for all sessions to take up a change. It is longer than posteriors take to be computed again. After it
	// newer changes are looked for, and a session that waits for a training is asked again.
	followWithin = 5 * time.Minute
)

// A follower applies the changes that commands made.
type follower struct {
	changes func(context.Context) (int64, error) // number of changes so far
	apply   func(context.Context) error          // applies all; may be called again
	log     *slog.Logger

	seen   int64  // changes that were applied
	failed string // why the last attempt failed, which is logged once
}

// step applies the changes that were not applied yet. What fails is tried again at the next step.
func (f *follower) step(ctx context.Context) {
	n, err := f.changes(ctx)
	if err == nil && n != f.seen {
		within, cancel := context.WithTimeout(ctx, followWithin)
		if err = f.apply(within); err == nil {
			f.seen = n
		}
		cancel()
	}
	failed := ""
	if err != nil {
		failed = err.Error()
	}
	if failed != "" && failed != f.failed && ctx.Err() == nil {
		f.log.ErrorContext(ctx, "follow changes; tried again every second", "err", err)
	}
	f.failed = failed
}

// follow applies the changes that commands made, until ctx is done. The pages of the server do not
// wait for it.
func (a *app) follow(ctx context.Context) {
	f := follower{seen: -1, log: a.log, changes: a.db.Changes, apply: func(ctx context.Context) error {
		a.web.Recheck()
		return a.manager.Follow(ctx)
	}}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		f.step(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
