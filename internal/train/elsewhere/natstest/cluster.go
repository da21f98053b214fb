package natstest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// env is the variable by which the program of a test runs a server of NATS: a Node as JSON.
const env = "TIEBREAK_TEST_NATS"

// Main runs a server if this process was started as one, and ends the process then. Call it first in TestMain.
func Main() {
	text := os.Getenv(env)
	if text == "" {
		return
	}
	if err := serve(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A Node is a server of a cluster.
type Node struct {
	Name, Dir     string
	Port, Cluster int      // for clients, and for other servers
	Nowhere       string   // the address that it tells the others, at which nobody listens: they use their own links
	Routes        []string // addresses of links to others

	process *exec.Cmd
}

// URL is the address for clients.
func (n *Node) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", n.Port) }

// serve runs a node until its input ends.
func serve(text string) error {
	var n Node
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: n.Name, Host: "127.0.0.1", Port: n.Port, JetStream: true, StoreDir: n.Dir, Routes: server.RoutesFromStr(strings.Join(n.Routes, ",")),
		Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: n.Cluster, Advertise: n.Nowhere, PoolSize: -1}, NoSigs: true, NoLog: true,
	})
	if err != nil {
		return err
	}
	s.Start()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// Start starts the server's process. It may be called again after Kill.
func (n *Node) Start(t testing.TB) {
	t.Helper()
	self, err := os.Executable()
	must.Do(t, err)
	text, err := json.Marshal(n)
	must.Do(t, err)
	n.process = exec.Command(self)
	n.process.Env = append(os.Environ(), env+"="+string(text))
	n.process.Stderr = t.Output()
	_, err = n.process.StdinPipe() // ends with this process
	must.Do(t, err)
	must.Do(t, n.process.Start())
}

// Kill kills the server's process.
func (n *Node) Kill() { _, _ = n.process.Process.Kill(), n.process.Wait() }

// A Cluster is three servers.
type Cluster struct {
	Nodes map[string]*Node // by name
	links []*link
}

// Start starts a cluster, which ends with the test.
func Start(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{Nodes: map[string]*Node{}}
	var nodes []*Node
	nowhere := fmt.Sprintf("127.0.0.1:%d", must.Port(t))
	for k := range 3 {
		nodes = append(nodes, &Node{Name: fmt.Sprint("n", k), Dir: t.TempDir(), Port: must.Port(t), Cluster: must.Port(t), Nowhere: nowhere})
	}
	for k, n := range nodes {
		for _, to := range nodes[k+1:] {
			l := newLink(t, n.Name, to)
			c.links, n.Routes = append(c.links, l), append(n.Routes, "nats://"+l.at.Addr().String())
		}
		c.Nodes[n.Name] = n
	}
	for _, n := range nodes {
		n.Start(t)
		t.Cleanup(n.Kill)
	}
	return c
}

// URLs are the addresses for clients.
func (c *Cluster) URLs() string {
	var list []string
	for _, n := range c.Nodes {
		list = append(list, n.URL())
	}
	return strings.Join(list, ",")
}

// Isolate cuts the network between a server and the two others, or mends it. Clients reach all three.
func (c *Cluster) Isolate(name string, cut bool) {
	for _, l := range c.links {
		if l.from == name || l.to.Name == name {
			l.cut(cut)
		}
	}
}

// Leader returns the server that leads the stream of messages.
func (c *Cluster) Leader(t testing.TB) *Node {
	t.Helper()
	name, err := LeaderBy(t.Context(), c.URLs())
	must.Do(t, err)
	return c.Nodes[name]
}

// LeaderBy returns the name of the leader as one of some servers knows it.
func LeaderBy(ctx context.Context, urls string) (string, error) {
	nc, err := nats.Connect(urls)
	if err != nil {
		return "", err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return "", err
	}
	stream, err := js.Stream(ctx, "TIEBREAK")
	if err != nil {
		return "", err
	}
	return stream.CachedInfo().Cluster.Leader, nil
}
