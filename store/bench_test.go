package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"tiebreak/internal/idrl"
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
