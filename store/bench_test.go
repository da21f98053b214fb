package store_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/store"
)

// BenchmarkAppend measures durable answers by 64 annotators of 64 sessions at
// once, each with its belief of 5 weights.
func BenchmarkAppend(b *testing.B) {
	db := open(b, b.TempDir())
	const sessions = 64
	ids := make([]idrl.SessionID, sessions)
	per := (b.N + sessions - 1) / sessions
	for k := range ids {
		ids[k] = idrl.SessionID(fmt.Sprintf("s%d", k))
		prepare(b, db, ids[k], per)
	}
	s := idrl.Snapshot{Belief: make([]byte, 260)}
	b.ResetTimer()
	var wg sync.WaitGroup
	var failed atomic.Int64
	for _, id := range ids {
		wg.Go(func() {
			for seq := range int64(per) {
				as := assignment(seq+1, generation0.Queries[0], "a1")
				snap := s
				snap.Seq = seq + 1
				if err := db.Append(b.Context(), id, idrl.Row{Answer: answer(seq+1, as), After: snap}); err != nil {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() > 0 {
		b.Errorf("%d appends failed", failed.Load())
	}
	b.ReportMetric(float64(per*sessions)/b.Elapsed().Seconds(), "answers/s")
}

// BenchmarkAppendAlone measures an answer when nobody else writes.
func BenchmarkAppendAlone(b *testing.B) {
	db := open(b, b.TempDir())
	prepare(b, db, "s", b.N)
	b.ResetTimer()
	for seq := range int64(b.N) {
		s := snapshot(seq + 1)
		must(b, db.Append(b.Context(), "s", idrl.Row{Answer: answer(seq+1, assignment(seq+1, generation0.Queries[0], "a1")), After: s}))
	}
}

// BenchmarkLoad measures the loading of the longest session with a budget.
func BenchmarkLoad(b *testing.B) {
	db := open(b, b.TempDir())
	const answers = idrl.MaxBudget
	prepare(b, db, "s", answers)
	for seq := range int64(answers) {
		s := idrl.Snapshot{Seq: seq + 1, Belief: make([]byte, 260)}
		must(b, db.Append(b.Context(), "s", idrl.Row{Answer: answer(seq+1, assignment(seq+1, generation0.Queries[0], "a1")), After: s}))
	}
	for b.Loop() {
		rec, err := db.Load(b.Context(), "s")
		if err != nil || len(rec.Log) != answers {
			b.Fatal(len(rec.Log), err)
		}
	}
}

// BenchmarkAdopt measures a generation of 60 clips of 4 KiB and 1,770 queries.
func BenchmarkAdopt(b *testing.B) {
	db := open(b, b.TempDir())
	must(b, db.CreateSession(b.Context(), spec("s")))
	clips := map[idrl.ClipID]idrl.Clip{}
	var list []idrl.Clip
	for k := range 60 {
		c := clip(fmt.Sprintf("%032d", k), float64(k), 2, 3, 4, 5)
		c.Media = make([]byte, 4096)
		list, clips[c.ID] = append(list, c), c
	}
	var queries []idrl.Query
	for i, a := range list {
		for _, c := range list[:i] {
			queries = append(queries, idrl.NewComparison(a, c))
		}
	}
	n := int64(0)
	for b.Loop() {
		must(b, db.Adopt(b.Context(), "s", idrl.Generation{BasedOn: n, Clips: clips, Queries: queries}, n))
		n++
	}
}

var generation0 = generation(0)

// BenchmarkAgents measures what a training of agents writes: a payload with two
// checkpoints when the job is queued, and the checkpoints with the generation, 5.3 MB each as
// those of half-cheetah. While one is written, answers wait.
//
//	queue-ms, adopt-ms  the mean time of each
func BenchmarkAgents(b *testing.B) {
	db := seeded(b, b.TempDir())
	stream := rng.New(1, "checkpoints", 0)
	state := func() []byte {
		out := make([]byte, 5_300_000)
		for i := range out {
			out[i] = byte(stream.Uint32())
		}
		return out
	}
	first, second := state(), state()
	var queueing, adopting time.Duration
	n := int64(0)
	for b.Loop() {
		n++
		first[n%1000], second[n%1000] = byte(n), byte(n)
		job := idrl.JobRecord{JobKey: idrl.JobKey{Session: "s", Kind: "train", BasedOn: n}, Payload: slices.Concat(first, second)}
		began := time.Now()
		must(b, db.QueueJob(b.Context(), job, began))
		queueing += time.Since(began)
		g := generation(n)
		g.Agents = map[string][]byte{"agent 0": first, "agent 1": second}
		began = time.Now()
		must(b, db.Adopt(b.Context(), "s", g, 0))
		adopting += time.Since(began)
	}
	b.ReportMetric(float64(queueing.Milliseconds())/float64(n), "queue-ms")
	b.ReportMetric(float64(adopting.Milliseconds())/float64(n), "adopt-ms")
}

// prepare makes a session with n open assignments.
func prepare(b *testing.B, db *store.DB, id idrl.SessionID, n int) {
	b.Helper()
	must(b, db.CreateSession(b.Context(), spec(string(id))))
	_, err := db.CreateAnnotator(b.Context(), id, "")
	must(b, err)
	must(b, db.Adopt(b.Context(), id, generation0, 0))
	as := make([]idrl.Assignment, n)
	for k := range as {
		as[k] = assignment(int64(k+1), generation0.Queries[0], "a1")
	}
	must(b, db.Issue(b.Context(), id, as))
}
