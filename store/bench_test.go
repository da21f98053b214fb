package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
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
	s := record.Snapshot{Belief: make([]byte, 260)}
	b.ResetTimer()
	var wg sync.WaitGroup
	var failed atomic.Int64
	for _, id := range ids {
		wg.Go(func() {
			for seq := range int64(per) {
				as := assignment(seq+1, generation0.Queries[0], "a1")
				snap := s
				snap.Seq = seq + 1
				if err := db.Append(b.Context(), id, record.Row{Answer: answer(seq+1, as), After: snap}); err != nil {
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
		must.Do(b, db.Append(b.Context(), "s", record.Row{Answer: answer(seq+1, assignment(seq+1, generation0.Queries[0], "a1")), After: s}))
	}
}

// BenchmarkLoad measures the loading of the longest session with a budget.
func BenchmarkLoad(b *testing.B) {
	db := open(b, b.TempDir())
	const answers = idrl.MaxBudget
	prepare(b, db, "s", answers)
	for seq := range int64(answers) {
		s := record.Snapshot{Seq: seq + 1, Belief: make([]byte, 260)}
		must.Do(b, db.Append(b.Context(), "s", record.Row{Answer: answer(seq+1, assignment(seq+1, generation0.Queries[0], "a1")), After: s}))
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
	must.Do(b, db.CreateSession(b.Context(), spec("s")))
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
		must.Do(b, db.Adopt(b.Context(), "s", idrl.Generation{BasedOn: n, Clips: clips, Queries: queries}, n))
		n++
	}
}

var generation0 = generation(0)

// BenchmarkAgents measures what answers wait for while trainings of agents are recorded: a
// job, and the checkpoints of two agents, 5.3 MB each as those of half-cheetah, with the
// generation. Meanwhile a small write is made every 5 ms.
//
// whole records the checkpoints with the job too, and in one piece with the generation.
//
//	adopt-ms          the mean time of the adoption, for which answers of that session wait
//	p99-ms, worst-ms  of the small writes
func BenchmarkAgents(b *testing.B) {
	b.Run("whole", func(b *testing.B) { agentsOf(b, true) })
	b.Run("staged", func(b *testing.B) { agentsOf(b, false) })
}

func agentsOf(b *testing.B, whole bool) {
	b.Helper()
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
	stop, waited := make(chan struct{}), make(chan []time.Duration)
	go func() { waited <- smallWrites(b, db, stop) }()
	var adopting time.Duration
	n := int64(0)
	for b.Loop() {
		n++
		first[n%1000], second[n%1000] = byte(n), byte(n)
		job := record.JobRecord{JobKey: record.JobKey{Session: "s", Kind: "train", BasedOn: n}, Payload: make([]byte, 50_000)}
		if whole {
			job.Payload = slices.Concat(first, second)
		}
		must.Do(b, db.QueueJob(b.Context(), job, time.Now()))
		_, attempt, err := db.BeginJob(b.Context(), job.JobKey, time.Now(), time.Now().Add(time.Hour))
		must.Do(b, err)
		for k := range 20 { // a report a second
			must.Do(b, db.BeatJob(b.Context(), attempt, time.Now().Add(time.Hour), record.JobProgress{Done: k, What: strings.Repeat("x", k)}))
		}
		must.Do(b, db.EndJob(b.Context(), attempt, time.Now(), record.JobDone, ""))
		g := generation(n)
		g.Agents = map[string][]byte{"agent 0": first, "agent 1": second}
		if !whole {
			must.Do(b, db.StageAgents(b.Context(), "s", g.Agents))
		}
		began := time.Now()
		must.Do(b, db.Adopt(b.Context(), "s", g, 0))
		adopting += time.Since(began)
	}
	close(stop)
	waits := <-waited
	slices.Sort(waits)
	b.ReportMetric(float64(adopting.Milliseconds())/float64(n), "adopt-ms")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(waits[len(waits)-1].Microseconds())/1000, "worst-ms")
}

// smallWrites writes little every 5 ms until stop, and returns how long each write took.
func smallWrites(b *testing.B, db *store.DB, stop chan struct{}) (waits []time.Duration) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		began := time.Now()
		if err := db.SetMeta(b.Context(), "bench", began.String()); err != nil {
			b.Error(err)
			return waits
		}
		waits = append(waits, time.Since(began))
		select {
		case <-stop:
			return waits
		case <-tick.C:
		}
	}
}

// prepare makes a session with n open assignments.
func prepare(b testing.TB, db *store.DB, id idrl.SessionID, n int) {
	b.Helper()
	must.Do(b, db.CreateSession(b.Context(), spec(string(id))))
	must.Get(db.CreateAnnotator(b.Context(), id, ""))(b)
	must.Do(b, db.Adopt(b.Context(), id, generation0, 0))
	as := make([]record.Assignment, n)
	for k := range as {
		as[k] = assignment(int64(k+1), generation0.Queries[0], "a1")
	}
	must.Do(b, db.Issue(b.Context(), id, as))
}
