package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
)

// BenchmarkFollow measures what programs that follow the answers of a session cost those who
// answer: the time until an answer is durable, where answers come 20 ms apart, in a session of 2,000,
// while each of so many followers reads the new rows as streams of the HTTP API do: when it hears of
// one, at most five times a second.
func BenchmarkFollow(b *testing.B) {
	for _, followers := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprintf("%d followers", followers), func(b *testing.B) { benchmarkFollow(b, followers) })
	}
}

func benchmarkFollow(b *testing.B, followers int) {
	const before = 2000
	db := open(b, b.TempDir())
	prepare(b, db, "s", before+b.N)
	give := func(seq int64) {
		row := record.Row{Answer: answer(seq, assignment(seq, generation0.Queries[0], "a1")), After: record.Snapshot{Seq: seq, Belief: make([]byte, 260)}}
		must.Do(b, db.Append(b.Context(), "s", row))
	}
	for seq := range int64(before) {
		give(seq + 1)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	var read, failed atomic.Int64
	news := make([]chan struct{}, followers)
	for k := range news {
		news[k] = make(chan struct{}, 1)
		wg.Go(func() {
			for after := int64(before); ; {
				select {
				case <-news[k]:
				case <-ctx.Done():
					return
				}
				err := db.Follow(ctx, "s", after, 1000, func(row record.LogRow) error {
					after = row.Seq
					read.Add(1)
					return nil
				})
				time.Sleep(200 * time.Millisecond)
				if err != nil && !errors.Is(err, context.Canceled) {
					failed.Add(1)
				}
			}
		})
	}
	took := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for n := range int64(b.N) {
		began := time.Now()
		give(before + n + 1)
		took = append(took, time.Since(began))
		for _, c := range news {
			select {
			case c <- struct{}{}:
			default:
			}
		}
		time.Sleep(20*time.Millisecond - time.Since(began))
	}
	b.StopTimer()
	cancel()
	wg.Wait()
	if failed.Load() > 0 || followers > 0 && read.Load() == 0 {
		b.Errorf("%d reads failed, %d rows were read", failed.Load(), read.Load())
	}
	slices.Sort(took)
	ms := func(share float64) float64 { return took[int(share*float64(len(took)-1))].Seconds() * 1000 }
	b.ReportMetric(ms(0.5), "ms-p50")
	b.ReportMetric(ms(0.99), "ms-p99")
	b.ReportMetric(float64(read.Load())/b.Elapsed().Seconds(), "rows-read/s")
	b.ReportMetric(0, "ns/op") // mostly the pause between answers
}
