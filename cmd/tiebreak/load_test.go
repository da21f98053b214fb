package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/live"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/web/client"
)

// BenchmarkAnswers measures durable answers over real sockets: server, clients and
// disk share the machine. All sessions are opened at once, and their annotators join
// and wait for the first clips with their sockets open. Labellers then reply without a
// pause, which gives the most answers, or think as people do, which gives the latency
// that people meet. Training runs in worker processes all the while if trainEvery is
// small.
//
//	first-s    from the opening until the last annotator has a question, joining included
//	answers/s  acknowledged
//	cpu-ms     of the processors for an answer, labellers included and workers aside: what to
//	           compare on a busy machine
//	p50-ms, p99-ms  from sending an answer to its acknowledgement
//	lost       sockets that broke
func BenchmarkAnswers(b *testing.B) {
	const never = 1 << 30
	loads := []load{{"gridworld", 8, 8, never, 0}, {"gridworld", 8, 8, 3, 0}, {"gridworld", 64, 4, never, 0}}
	if mujoco.Unavailable() == nil {
		loads = append(loads,
			load{"half-cheetah", 8, 8, never, 0}, load{"half-cheetah", 8, 8, 3, 0},
			load{"half-cheetah", 40, 50, never, 4 * time.Second}, load{"half-cheetah", 40, 50, 100, 4 * time.Second})
	}
	for _, load := range loads {
		name := fmt.Sprintf("%s/annotators=%d/training=%t/think=%v", load.env, load.sessions*load.each, load.trainEvery < never, load.think)
		b.Run(name, func(b *testing.B) {
			began := time.Now()
			labellers := load.open(b)
			first := time.Since(began)
			b.ResetTimer()
			began = time.Now()
			worked := processorTime(b)
			lost := labelAll(b, labellers, 1+(b.N+len(labellers)-1)/len(labellers))
			took := time.Since(began)
			b.StopTimer()
			b.ReportMetric(float64((processorTime(b)-worked).Microseconds())/1000/float64(b.N), "cpu-ms")
			b.ReportMetric(first.Seconds(), "first-s")
			b.ReportMetric(float64(lost), "lost")
			reportWaits(b, labellers, took)
		})
	}
}

// BenchmarkFirstClips measures how long sessions wait for their first clips that are
// opened at once, without annotators.
//
//	mean-s, last-s  from the opening
func BenchmarkFirstClips(b *testing.B) {
	loads := []load{{env: "gridworld", sessions: 40}, {env: "driver", sessions: 40}}
	if mujoco.Unavailable() == nil {
		loads = append(loads, load{env: "half-cheetah", sessions: 40})
	}
	for _, load := range loads {
		b.Run(fmt.Sprintf("%s/sessions=%d", load.env, load.sessions), func(b *testing.B) {
			var sum, last time.Duration
			for range b.N {
				waits := load.firstClips(b)
				last += slices.Max(waits)
				for _, w := range waits {
					sum += w / time.Duration(len(waits))
				}
			}
			b.ReportMetric(sum.Seconds()/float64(b.N), "mean-s")
			b.ReportMetric(last.Seconds()/float64(b.N), "last-s")
		})
	}
}

// firstClips opens the sessions and returns how long each waited.
func (l load) firstClips(b *testing.B) []time.Duration {
	b.Helper()
	a := must.Get(openApp(b.Context(), b.TempDir(), envs.Catalogue, site{}, slog.New(slog.DiscardHandler), program(b), "worker"))(b)
	defer a.close()
	var ids []idrl.SessionID
	for k := range l.sessions {
		spec := must.Get(newSession(b.Context(), a.db, a.envs(), idrl.SessionSpec{Title: "first", Env: l.env, Seed: uint64(k)}))(b)
		ids = append(ids, spec.ID)
	}
	began := time.Now()
	waits := make([]time.Duration, len(ids))
	var wg sync.WaitGroup
	for k, id := range ids {
		adopted := make(chan struct{}, 1)
		defer a.hub.Subscribe(id, func(e live.Event) {
			if e.Kind == live.EventAdopted {
				adopted <- struct{}{}
			}
		})()
		must.Get(a.manager.Session(b.Context(), id))(b)
		wg.Go(func() {
			<-adopted
			waits[k] = time.Since(began)
		})
	}
	wg.Wait()
	return waits
}

// A load is how many annotators label what, and how.
type load struct {
	env            string
	sessions, each int // annotators of a session
	trainEvery     int64
	think          time.Duration
}

// reportWaits reports the waits of all answers but each annotator's first.
func reportWaits(b *testing.B, labellers []*loadtest.Labeller, took time.Duration) {
	b.Helper()
	var waits []time.Duration
	for _, l := range labellers {
		waits = append(waits, l.Waits[min(1, len(l.Waits)):]...)
	}
	if len(waits) == 0 {
		b.Fatal("there were no answers")
	}
	slices.Sort(waits)
	ms := func(q float64) float64 { return float64(waits[int(q*float64(len(waits)-1))].Microseconds()) / 1000 }
	b.ReportMetric(float64(len(waits))/took.Seconds(), "answers/s")
	b.ReportMetric(ms(0.5), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
}

// labelAll lets every labeller go on until it has n answers, and returns how many
// could not.
func labelAll(b *testing.B, labellers []*loadtest.Labeller, n int) int {
	b.Helper()
	var wg sync.WaitGroup
	var lost atomic.Int64
	for i, l := range labellers {
		wg.Go(func() {
			if err := l.Label(n); err != nil {
				lost.Add(1)
				b.Errorf("annotator %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	return int(lost.Load())
}

// open starts a server in this process, opens the sessions, and returns when every
// annotator has joined and had an answer acknowledged.
func (l load) open(b *testing.B) []*loadtest.Labeller {
	b.Helper()
	_, labellers := l.openOn(b)
	return labellers
}

// openOn is open that also returns the server.
func (l load) openOn(b testing.TB) (*app, []*loadtest.Labeller) {
	b.Helper()
	a, addr := serveInside(b)
	return a, joinAll(b, l.links(b, a, addr), l.sessions*l.each, l.think)
}

// serveInside starts a server in this process with a data folder of its own, and returns its address.
func serveInside(b testing.TB) (*app, string) {
	b.Helper()
	a, addr, stop := serveFrom(b, b.TempDir())
	b.Cleanup(stop)
	return a, addr
}

// serveFrom starts a server of a data folder in this process, with workers of the real program, and
// returns its address.
func serveFrom(b testing.TB, dir string) (_ *app, addr string, stop func()) {
	b.Helper()
	a := must.Get(openApp(b.Context(), dir, envs.Catalogue, site{}, slog.New(slog.DiscardHandler), program(b), "worker"))(b)
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	done := make(chan error, 1)
	go func() { done <- a.listen(ctx, ln) }()
	return a, ln.Addr().String(), func() {
		cancel()
		<-done
		_ = a.close()
	}
}

// joinAll has n annotators join by the links in turn. It returns when each has had an answer
// acknowledged.
func joinAll(b testing.TB, links []string, n int, think time.Duration) []*loadtest.Labeller {
	b.Helper()
	labellers := make([]*loadtest.Labeller, n)
	var wg sync.WaitGroup
	atOnce := make(chan struct{}, 32) // that join
	for i := range labellers {
		wg.Go(func() {
			atOnce <- struct{}{}
			conn, err := client.Dial(b.Context(), links[i%len(links)])
			<-atOnce
			if err != nil {
				b.Errorf("annotator %d joins: %v", i, err)
				return
			}
			b.Cleanup(func() { _ = conn.Close() })
			labellers[i] = loadtest.New(conn, uint64(i))
			labellers[i].Listen()
			if err := labellers[i].Label(1); err != nil {
				b.Errorf("annotator %d waits for the first clips: %v", i, err)
			}
			labellers[i].Think = think
		})
	}
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return labellers
}

// links makes the sessions and returns a link for the annotators of each.
func (l load) links(b testing.TB, a *app, addr string) (out []string) {
	b.Helper()
	for s := range l.sessions {
		spec := must.Get(newSession(b.Context(), a.db, a.envs(), idrl.SessionSpec{
			Title: "load", Env: l.env, Seed: uint64(s), TrainEvery: l.trainEvery,
		}))(b)
		token := must.Get(a.auth.NewInvitation(b.Context(), spec.ID, l.each, time.Hour))(b)
		out = append(out, "http://"+addr+"/join/"+token)
	}
	return out
}

// processorTime returns how long the processors have worked for this process, workers aside.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
