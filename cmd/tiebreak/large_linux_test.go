package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/live"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session"
	"tiebreak/store/storetest"
)

// BenchmarkLarge measures what a session of 100,000 answers by four annotators costs: to open it,
// its large pages, and its exports. Each is asked for once by a server that has just opened the session.
//
//	cpu-ms   of the processors, reader included
//	heap-MB  the most that the heap of Go held, sampled each millisecond, less what it held before; garbage
//	         that is not collected yet included
//	rss-MB   the most memory that the process had from the system, less what it had before
//	held-MB  what the heap holds afterwards, less what it held before, without garbage
//
//	go test ./cmd/tiebreak -run '^$' -bench Large -benchtime 1x
func BenchmarkLarge(b *testing.B) {
	dir := b.TempDir()
	id := largeSession(b, dir, 100_000)
	open := func(b *testing.B, a *app, _ string) func() { return func() { openSession(b, a, id) } }
	read := func(page string) func(b *testing.B, a *app, addr string) func() {
		return func(b *testing.B, a *app, addr string) func() {
			base := &url.URL{Scheme: "http", Host: addr, Path: "/sessions/" + string(id) + "/"}
			get := (&intrusion{b: b, base: base, reader: signIn(b, a, base)}).read(page)
			openSession(b, a, id)
			return func() {
				must.Do(b, get(b.Context()))
			}
		}
	}
	for _, row := range []struct {
		name  string
		ready func(b *testing.B, a *app, addr string) (work func())
	}{
		{"open", open},
		{"charts", read("charts?page=learning")},
		{"quality", read("quality")},
		{"questions", read("questions")},
		{"questions.csv", read("charts/questions")},
		{"jsonl", read("export?format=jsonl")},
		{"csv", read("export?format=csv")},
		{"bundle", read("export?format=bundle")},
		{"networks", read("export?format=networks")},
	} {
		b.Run(row.name, func(b *testing.B) {
			var all costs
			for range b.N {
				b.StopTimer()
				a, addr, stop := serveFrom(b, dir)
				a.unwatch() // the check of the database that begins with a server
				all.measure(b, row.ready(b, a, addr))
				stop()
			}
			all.report(b)
		})
	}
}

func openSession(b testing.TB, a *app, id idrl.SessionID) *session.Session {
	b.Helper()
	s := must.Get(a.manager.Session(b.Context(), id))(b)
	return s
}

// largeSession makes a session of so many answers in a data folder: the last 400 are given to a
// session of that size, so that all is stored that a server stores.
func largeSession(b testing.TB, dir string, answers int) idrl.SessionID {
	b.Helper()
	const given, last = 4000, 400
	a, _, stop := serveFrom(b, dir)
	spec := must.Get(newSession(b.Context(), a.db, a.envs(), idrl.SessionSpec{Title: "large", Env: "gridworld", TrainEvery: 1 << 30}))(b)
	var who []idrl.AnnotatorID
	for k := range 4 {
		id := must.Get(a.db.CreateAnnotator(b.Context(), spec.ID, fmt.Sprint("annotator ", k)))(b)
		who = append(who, id)
	}
	adopted := make(chan struct{}, 1)
	unsubscribe := a.hub.Subscribe(spec.ID, func(e live.Event) {
		if e.Kind == live.EventAdopted {
			adopted <- struct{}{}
		}
	})
	s := openSession(b, a, spec.ID)
	<-adopted
	unsubscribe()
	answerAll(b, s, who, given, "first")
	stop()
	must.Do(b, storetest.Grow(b.Context(), dir, string(spec.ID), answers-last))
	a, _, stop = serveFrom(b, dir)
	defer stop()
	answerAll(b, openSession(b, a, spec.ID), who, last, "last")
	return spec.ID
}

// answerAll has annotators give n answers together, with ids that begin with a name.
func answerAll(b testing.TB, s *session.Session, who []idrl.AnnotatorID, n int, name string) {
	b.Helper()
	var all sync.WaitGroup
	annotators := len(who)
	for _, who := range who {
		all.Go(func() {
			for k := range n / annotators {
				if err := answerOnce(b.Context(), s, who, idrl.AnswerID(fmt.Sprintf("%s-%s-%06d", name, who, k))); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// answerOnce answers the next question of an annotator.
func answerOnce(ctx context.Context, s *session.Session, who idrl.AnnotatorID, id idrl.AnswerID) error {
	offer, err := s.Claim(ctx, who)
	if err != nil {
		return err
	}
	if len(offer.Open) == 0 {
		return fmt.Errorf("there is no question: %s", offer.Waiting)
	}
	as := offer.Open[0]
	_, err = s.Answer(ctx, who, idrl.Answer{
		ID: id, Assignment: as.ID, Choice: []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal}[as.Query.ID[0]%3], Left: as.Left, Input: "keyboard",
		ShownAt: time.Now().Add(-2 * time.Second), AnsweredAt: time.Now(), ResponseMS: 1900, Loops: 1,
	})
	return err
}

// costs are sums over iterations.
type costs struct {
	processor       time.Duration
	heap, rss, held float64 // MB
}

func (c *costs) measure(b *testing.B, f func()) {
	debug.FreeOSMemory()
	before, rss := heapObjects(), memoryOf(b, "VmRSS")
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // VmHWM is VmRSS
		b.Fatal(err)
	}
	most, stop := sampleHeap()
	worked := processorTime(b)
	b.StartTimer()
	f()
	b.StopTimer()
	c.processor += processorTime(b) - worked
	stop()
	c.heap += (most() - before) / 1e6
	c.rss += float64(memoryOf(b, "VmHWM")-rss) / 1e6
	debug.FreeOSMemory()
	c.held += (heapObjects() - before) / 1e6
}

func (c *costs) report(b *testing.B) {
	n := float64(b.N)
	b.ReportMetric(float64(c.processor.Milliseconds())/n, "cpu-ms")
	b.ReportMetric(c.heap/n, "heap-MB")
	b.ReportMetric(c.rss/n, "rss-MB")
	b.ReportMetric(c.held/n, "held-MB")
}

// memoryOf reads a line of this process's status, in bytes.
func memoryOf(b *testing.B, name string) (n int64) {
	b.Helper()
	text := must.Get(os.ReadFile("/proc/self/status"))(b)
	_, rest, _ := strings.Cut(string(text), name+":")
	must.Get(fmt.Sscan(rest, &n))(b)
	return 1000 * n
}
