package main

import (
	"context"
	wireorder "encoding/binary"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/train/jobs"
)

// A reportingLink plays a worker elsewhere whose job never ends, and reports once a second.
type reportingLink struct {
	first   time.Duration // before its first report, so that not all come at once
	started chan uint64   // gets the id of the job; buffered
	id      uint64        // of the goroutine that reads
	greeted bool          // likewise
	ended   chan struct{}
	once    sync.Once
}

func newReportingLink(first time.Duration) *reportingLink {
	return &reportingLink{first: first, started: make(chan uint64, 1), ended: make(chan struct{})}
}

// frameOf returns a frame (docs/adr/0019).
func frameOf(kind byte, id uint64, body string) []byte {
	b := wireorder.BigEndian.AppendUint32([]byte{kind, 0, 0, 0}, uint32(len(body))) //nolint:gosec // a few bytes
	return append(wireorder.BigEndian.AppendUint64(b, id), body...)
}

// Read implements jobs.Link.
func (l *reportingLink) Read() ([]byte, error) {
	if !l.greeted {
		l.greeted = true
		return frameOf(1, 0, "tiebreak jobs \x00\x02"), nil
	}
	wait := time.Second
	if l.id == 0 {
		select {
		case l.id = <-l.started:
		case <-l.ended:
			return nil, io.EOF
		}
		wait = l.first
	}
	select {
	case <-time.After(wait):
		return frameOf(6, l.id, "\x02\x04solving"), nil
	case <-l.ended:
		return nil, io.EOF
	}
}

// Write implements jobs.Link.
func (l *reportingLink) Write(m []byte) error {
	switch m[0] {
	case 2: // start
		l.started <- wireorder.BigEndian.Uint64(m[8:16])
	case 3: // cancel
		_ = l.Close()
	}
	return nil
}

// Close implements jobs.Link.
func (l *reportingLink) Close() error {
	l.once.Do(func() { close(l.ended) })
	return nil
}

// BenchmarkAnswersBesideWorkers measures the waits of 64 annotators who answer every 100 ms, without and beside 1,000 workers
// elsewhere, each with a job whose progress is recorded once a second.
func BenchmarkAnswersBesideWorkers(b *testing.B) {
	for _, workers := range []int{0, 1000} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			l := load{"gridworld", 64, 1, 1 << 30, 100 * time.Millisecond}
			a, labellers := l.openOn(b)
			list := must.Get(a.db.Sessions(b.Context()))(b)
			ctx, stop := context.WithCancel(b.Context())
			var all sync.WaitGroup
			for k := range workers {
				link := newReportingLink(time.Duration(k) * time.Millisecond)
				all.Go(func() { a.pool.Join(ctx, link, jobs.Place{Name: fmt.Sprint("w", k)}) })
				all.Go(func() {
					key := record.JobKey{Session: list[k%len(list)].Spec.ID, Kind: fmt.Sprint("load ", k)}
					for range a.pool.Start(ctx, jobs.Job{JobKey: key, Like: "load", Work: time.Hour}) { //nolint:revive // it is only kept running
					}
				})
			}
			defer all.Wait()
			defer stop()
			for end := time.Now().Add(time.Minute); len(a.pool.Now()) < workers; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					b.Fatalf("only %d workers have joined", len(a.pool.Now()))
				}
			}
			b.ResetTimer()
			began := time.Now()
			labelAll(b, labellers, 1+(b.N+len(labellers)-1)/len(labellers))
			b.StopTimer()
			reportWaits(b, labellers, time.Since(began))
		})
	}
}
