package bynats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/train/elsewhere/bynats"
)

// natsEnv is the variable by which the binary of these tests runs a server of NATS: a node as JSON.
const natsEnv = "TIEBREAK_TEST_NATS"

func TestMain(m *testing.M) {
	if text := os.Getenv(natsEnv); text != "" {
		if err := serveNATS(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A node is a server of NATS of a cluster, in a process of its own.
type node struct {
	Name, Dir     string
	Port, Cluster int
	Routes        []string

	process *exec.Cmd
}

func (n *node) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", n.Port) }

// serveNATS runs a node until its input ends.
func serveNATS(text string) error {
	var n node
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: n.Name, Host: "127.0.0.1", Port: n.Port, JetStream: true, StoreDir: n.Dir, Routes: server.RoutesFromStr(strings.Join(n.Routes, ",")),
		Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: n.Cluster}, NoSigs: true, NoLog: true,
	})
	if err != nil {
		return err
	}
	s.Start()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// startCluster starts three servers of NATS.
func startCluster(t *testing.T) map[string]*node {
	t.Helper()
	var ports []int
	var held []net.Listener
	for range 6 {
		l := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
		held, ports = append(held, l), append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	for _, l := range held {
		check(t, l.Close())
	}
	var routes []string
	for _, port := range ports[3:] {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	all := map[string]*node{}
	for k := range 3 {
		n := &node{Name: fmt.Sprint("n", k), Dir: t.TempDir(), Port: ports[k], Cluster: ports[3+k], Routes: routes}
		n.process = exec.Command(must[string](t)(os.Executable()))
		n.process.Env = append(os.Environ(), natsEnv+"="+string(must[[]byte](t)(json.Marshal(n))))
		n.process.Stderr = t.Output()
		must[io.WriteCloser](t)(n.process.StdinPipe()) // ends with this process
		check(t, n.process.Start())
		t.Cleanup(func() { _, _ = n.process.Process.Kill(), n.process.Wait() })
		all[n.Name] = n
	}
	return all
}

// openCluster opens the carriers of a server and of the worker w1, when the cluster is ready.
func openCluster(t *testing.T, all map[string]*node) (server, worker *bynats.Carrier, urls string) {
	t.Helper()
	var list []string
	for _, n := range all {
		list = append(list, n.url())
	}
	cfg := bynats.Config{URLs: strings.Join(list, ","), Replicas: 3, Log: logOf(t)}
	again(t, "a leader of the cluster", func(ctx context.Context) error {
		c, err := bynats.Open(ctx, cfg)
		if err != nil {
			return err
		}
		return c.Close()
	})
	server = open(t, cfg)
	cfg.Name = "w1"
	return server, open(t, cfg), cfg.URLs
}

// TestCluster: one of three servers is killed while 200 messages are sent each way. What arrives is in order and there
// once; blobs stay.
func TestCluster(t *testing.T) {
	t.Parallel()
	all := startCluster(t)
	server, w, urls := openCluster(t, all)
	leader := leaderOf(t, urls)
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
	check(t, all[leader].process.Process.Kill())
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

// leaderOf returns the name of the server that leads the stream of messages.
func leaderOf(t *testing.T, urls string) string {
	t.Helper()
	nc := must[*nats.Conn](t)(nats.Connect(urls))
	defer nc.Close()
	js := must[jetstream.JetStream](t)(jetstream.New(nc))
	stream := must[jetstream.Stream](t)(js.Stream(t.Context(), "TIEBREAK"))
	return stream.CachedInfo().Cluster.Leader
}
