package bynats_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/train/elsewhere/bynats"
)

// startCluster starts three servers of NATS that keep everything three times.
func startCluster(t *testing.T) []*server.Server {
	t.Helper()
	var routes []*url.URL
	var held []net.Listener
	for range 3 {
		l := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
		held = append(held, l)
		routes = append(routes, &url.URL{Scheme: "nats", Host: l.Addr().String()})
	}
	var all []*server.Server
	for k, l := range held {
		port := l.Addr().(*net.TCPAddr).Port
		check(t, l.Close())
		o := &server.Options{
			ServerName: fmt.Sprint("n", k), Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), Routes: routes,
			Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port}, NoSigs: true, NoLog: true,
		}
		s := must[*server.Server](t)(server.NewServer(o))
		go s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		all = append(all, s)
	}
	return all
}

// TestCluster: one of three servers is killed while 200 messages are sent each way. What arrives is in order and there
// once; blobs stay.
func TestCluster(t *testing.T) {
	t.Parallel()
	all := startCluster(t)
	var urls []string
	for _, s := range all {
		if !s.ReadyForConnections(waittest.Limit) {
			t.Fatalf("waited %v for a cluster", waittest.Limit)
		}
		urls = append(urls, s.ClientURL())
	}
	cfg := bynats.Config{URLs: strings.Join(urls, ","), Replicas: 3, Log: logOf(t)}
	again(t, "a leader of the cluster", func(ctx context.Context) error {
		c, err := bynats.Open(ctx, cfg)
		if err != nil {
			return err
		}
		return c.Close()
	})
	server := open(t, cfg)
	cfg.Name = "w1"
	w := open(t, cfg)
	blob := []byte(strings.Repeat("blob", 1<<18))
	name := must[hash](t)(w.Put(t.Context(), blob))
	down, up := receive(t, w, "to.w1.s.>"), receive(t, server, "from.*.s.>")
	counts := []chan int{ordered(t, down), ordered(t, up)}

	const n = 200
	failed := make(chan int, 2)
	half := make(chan struct{}, 2)
	for _, send := range []func(k int) error{
		func(k int) error { return server.Send(t.Context(), "to.w1.s.l", fmt.Append(nil, k)) },
		func(k int) error { return w.Send(t.Context(), "from.w1.s.l", fmt.Append(nil, k)) },
	} {
		go func() {
			bad := 0
			for k := range n {
				if k == n/4 {
					half <- struct{}{}
				}
				if send(k) != nil {
					bad++
				}
			}
			failed <- bad
		}()
	}
	waittest.For(t, half, "a quarter of the messages")
	waittest.For(t, half, "a quarter of the messages")
	killed := leaderOf(all, "TIEBREAK")
	killed.Shutdown()
	for range 2 {
		t.Logf("not acknowledged of %d: %d", n, waittest.For(t, failed, "the end of sending"))
	}
	reaches(t, server, w, "to.w1.t.l")
	reaches(t, w, server, "from.w1.t.l")
	for k, way := range []string{"down", "up"} {
		t.Logf("%s: received %d of %d", way, <-counts[k], n)
	}
	again(t, "the blob from two servers", func(ctx context.Context) error {
		got, err := server.Get(ctx, name)
		if err == nil && string(got) != string(blob) {
			t.Error("another blob came back")
		}
		return err
	})
}

// leaderOf returns the server that leads a stream.
func leaderOf(all []*server.Server, stream string) *server.Server {
	for _, s := range all {
		if s.JetStreamIsStreamLeader("$G", stream) {
			return s
		}
	}
	return all[0]
}
