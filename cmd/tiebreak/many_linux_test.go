package main

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/live"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
)

// BenchmarkManySessions measures a server with 1,000 sessions of Gridworld, all of which have been used since
// it started, and of which 20 are in use.
//
//	held-MB    what the heap holds, without garbage
//	rss-MB     what the process has from the system
//	all-MB     held-MB before the others came to rest
//	again-ms   the longest time to load one of 50 sessions again, its state included
//
//	go test ./cmd/tiebreak -run '^$' -bench ManySessions -benchtime 1x
func BenchmarkManySessions(b *testing.B) {
	const sessions, active, again, atOnce = 1000, 20, 50, 32
	a := must.Get(openApp(b.Context(), b.TempDir(), envs.Catalogue, site{rest: 20 * time.Second}, slog.New(slog.DiscardHandler), program(b), "worker"))(b)
	defer a.close()
	ids := make([]idrl.SessionID, sessions)
	var opening sync.WaitGroup
	for w := range atOnce {
		opening.Go(func() {
			for k := w; k < sessions; k += atOnce {
				ids[k] = openTrained(b, a, uint64(k))
			}
		})
	}
	opening.Wait()
	if b.Failed() {
		return
	}
	for range b.N {
		for _, id := range ids {
			openSession(b, a, id)
		}
		debug.FreeOSMemory()
		before := heapObjects()
		stop := make(chan struct{})
		var used sync.WaitGroup
		for _, id := range ids[:active] {
			used.Go(func() { use(b, a, id, stop) })
		}
		for a.manager.Running() > active {
			time.Sleep(100 * time.Millisecond)
		}
		debug.FreeOSMemory()
		b.ReportMetric(before/1e6, "all-MB")
		b.ReportMetric(heapObjects()/1e6, "held-MB")
		b.ReportMetric(float64(memoryOf(b, "VmRSS"))/1e6, "rss-MB")
		var waits []time.Duration
		for _, id := range ids[active : active+again] {
			began := time.Now()
			must.Get((session.Handle{Manager: a.manager, ID: id}).Status(b.Context()))(b)
			waits = append(waits, time.Since(began))
		}
		b.ReportMetric(float64(slices.Max(waits).Milliseconds()), "again-ms")
		close(stop)
		used.Wait()
	}
}

// openTrained makes a session and waits for its first clips.
func openTrained(b *testing.B, a *app, seed uint64) idrl.SessionID {
	b.Helper()
	spec, err := newSession(b.Context(), a.db, a.envs(), idrl.SessionSpec{Title: fmt.Sprint("session ", seed), Env: "gridworld", Seed: seed})
	if err != nil {
		b.Error(err)
		return ""
	}
	adopted := make(chan struct{}, 1)
	defer a.hub.Subscribe(spec.ID, func(e live.Event) {
		if e.Kind == live.EventAdopted {
			adopted <- struct{}{}
		}
	})()
	if _, err := a.manager.Session(b.Context(), spec.ID); err != nil {
		b.Error(err)
		return ""
	}
	<-adopted
	return spec.ID
}

// use looks at a session each second until stop is closed.
func use(b *testing.B, a *app, id idrl.SessionID, stop <-chan struct{}) {
	h := session.Handle{Manager: a.manager, ID: id}
	for {
		if _, err := h.Status(b.Context()); err != nil {
			b.Error(err)
		}
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
		}
	}
}
