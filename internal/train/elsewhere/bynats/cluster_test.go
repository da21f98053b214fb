package bynats_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/natstest"
)

func TestMain(m *testing.M) {
	natstest.Main()
	os.Exit(m.Run())
}

// openCluster opens the carriers of a server and of the worker w1, when the cluster is ready.
func openCluster(t *testing.T, all *natstest.Cluster) (server, worker *bynats.Carrier) {
	t.Helper()
	cfg := bynats.Config{URLs: all.URLs(), Replicas: 3, Log: logOf(t)}
	again(t, "a leader of the cluster", func(ctx context.Context) error {
		c, err := bynats.Open(ctx, cfg)
		if err != nil {
			return err
		}
		return c.Close()
	})
	server = open(t, cfg)
	cfg.Name = "w1"
	return server, open(t, cfg)
}

// TestCluster: one of three servers is killed while 200 messages are sent each way. What arrives is in order and there
// once; blobs stay.
func TestCluster(t *testing.T) {
	t.Parallel()
	all := natstest.Start(t)
	server, w := openCluster(t, all)
	leader := all.Leader(t)
	blob := []byte(strings.Repeat("blob", 1<<18))
	name := must.Get(w.Put(t.Context(), blob))(t)
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
	leader.Kill()
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

// A leader that is cut off from the others is replaced by one of them, which is the control of the tests that cut the network; when
// it is mended, all three know the same leader.
func TestIsolatedLeaderIsReplaced(t *testing.T) {
	t.Parallel()
	all := natstest.Start(t)
	openCluster(t, all)
	old := all.Leader(t).Name
	agree := func(what string, is func(leader string) bool, of ...string) {
		t.Helper()
		for _, name := range of {
			again(t, what, func(ctx context.Context) error {
				leader, err := natstest.LeaderBy(ctx, all.Nodes[name].URL())
				if err == nil && !is(leader) {
					err = fmt.Errorf("%s says that %q leads", name, leader)
				}
				return err
			})
		}
	}
	var others []string
	for name := range all.Nodes {
		if name != old {
			others = append(others, name)
		}
	}
	all.Isolate(old, true)
	agree("another leader", func(leader string) bool { return leader != "" && leader != old }, others...)
	all.Isolate(old, false)
	agree("the new leader to be known to the old one", func(leader string) bool { return leader != "" && leader != old }, old)
}
