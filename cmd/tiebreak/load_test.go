package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"tiebreak/envs"
	"tiebreak/envs/mujoco"
	"tiebreak/internal/idrl"
	"tiebreak/web/client"
)

// BenchmarkAnswers measures durable answers over real sockets: server, clients and
// disk share the machine. Labellers reply without a pause, which gives the most
// answers, or think as people do, which gives the latency that people meet. Training
// runs in worker processes all the while if trainEvery is small.
//
//	answers/s  acknowledged
//	p50-ms, p99-ms  from sending an answer to its acknowledgement
func BenchmarkAnswers(b *testing.B) {
	type load struct {
		env            string
		sessions, each int // annotators of a session
		trainEvery     int64
		think          time.Duration
	}
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
			conns := openLoad(b, load.env, load.sessions, load.each, load.trainEvery)
			labellers := make([]*labeller, len(conns))
			for i, c := range conns {
				labellers[i] = newLabeller(c, uint64(i))
				labellers[i].think = load.think
			}
			labelAll(b, labellers, 1) // waits for the first generations
			b.ResetTimer()
			began := time.Now()
			labelAll(b, labellers, 1+(b.N+len(conns)-1)/len(conns))
			took := time.Since(began)
			b.StopTimer()
			var waits []time.Duration
			for _, l := range labellers {
				waits = append(waits, l.waits[1:]...)
			}
			slices.Sort(waits)
			ms := func(q float64) float64 { return float64(waits[int(q*float64(len(waits)-1))].Microseconds()) / 1000 }
			b.ReportMetric(float64(len(waits))/took.Seconds(), "answers/s")
			b.ReportMetric(ms(0.5), "p50-ms")
			b.ReportMetric(ms(0.99), "p99-ms")
		})
	}
}

// labelAll lets every labeller go on until it has n answers.
func labelAll(b *testing.B, labellers []*labeller, n int) {
	b.Helper()
	var wg sync.WaitGroup
	for i, l := range labellers {
		wg.Go(func() {
			if err := l.label(n); err != nil {
				b.Errorf("annotator %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

// openLoad starts a server in this process and connects annotators to it.
func openLoad(b *testing.B, env string, sessions, each int, trainEvery int64) (conns []*client.Conn) {
	b.Helper()
	a, err := openApp(b.Context(), b.TempDir(), envs.Catalogue(), nil, slog.New(slog.DiscardHandler), program(b), "worker")
	if err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	done := make(chan error, 1)
	go func() { done <- a.listen(ctx, ln) }()
	b.Cleanup(func() {
		stop()
		<-done
		_ = a.close()
	})
	for s := range sessions {
		spec, err := newSession(b.Context(), a.db, a.envs, idrl.SessionSpec{
			Title: "load", Env: env, Seed: uint64(s), TrainEvery: trainEvery,
		})
		if err != nil {
			b.Fatal(err)
		}
		token, err := a.auth.NewInvitation(b.Context(), spec.ID, each, time.Hour)
		if err != nil {
			b.Fatal(err)
		}
		for range each {
			c, err := client.Dial(b.Context(), "http://"+ln.Addr().String()+"/join/"+token)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = c.Close() })
			conns = append(conns, c)
		}
	}
	return conns
}
