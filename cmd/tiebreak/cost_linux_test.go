package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/lab/loadtest"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// BenchmarkCost measures what annotators cost a server, which is a process of its own: 128
// annotators in 32 sessions of gridworld, which train no more, give 32 answers a second in
// all. With TIEBREAK_PEER, the path of another version of the program, that is measured
// after it, in the same run.
//
//	rss-MB, peak-MB  memory of the server after the answers, and the most
//	cores            processor time of the server by time
//	answer-B         growth of the database by answers
//	socket-B         growth of the server's memory by idle sockets that have said hello
//	p50-ms, p99-ms   from sending an answer to its acknowledgement
func BenchmarkCost(b *testing.B) {
	b.Run("this", func(b *testing.B) { benchmarkCost(b, program(b)) })
	if peer := os.Getenv("TIEBREAK_PEER"); peer != "" {
		b.Run("peer", func(b *testing.B) { benchmarkCost(b, peer) })
	}
}

func benchmarkCost(b *testing.B, program string) {
	const sessions, each, tabs = 32, 4, 15
	data, addr := b.TempDir(), freeAddr(b)
	var labellers []*loadtest.Labeller
	links := costSessions(b, program, data, addr, sessions)
	server := serveCost(b, program, data, addr)
	for i := range sessions * each {
		conn := must.Get(client.Dial(b.Context(), links[i%sessions]))(b)
		labellers = append(labellers, loadtest.New(conn, uint64(i)))
	}
	labelAll(b, labellers, 2)
	server.stop(b)
	before := databaseSize(b, data)
	server = serveCost(b, program, data, addr)
	for _, l := range labellers {
		must.Do(b, l.Conn.Reconnect(b.Context()))
		l.Listen()
		l.Think, l.Waits = 4*time.Second, nil
	}
	busy, began := server.processor(b), time.Now()
	b.ResetTimer()
	labelAll(b, labellers, 4+(b.N+len(labellers)-1)/len(labellers)) // reportWaits leaves one out
	took := time.Since(began)
	b.StopTimer()
	b.ReportMetric((server.processor(b)-busy).Seconds()/took.Seconds(), "cores")
	rss := server.memory(b, "VmRSS")
	b.ReportMetric(float64(rss)/1e6, "rss-MB")
	b.ReportMetric(float64(server.memory(b, "VmHWM"))/1e6, "peak-MB")
	reportWaits(b, labellers, took)
	n := idleTabs(b, labellers, tabs)
	b.ReportMetric(float64(server.memory(b, "VmRSS")-rss)/float64(n), "socket-B")
	server.stop(b)
	answers := 0
	for _, l := range labellers {
		answers += len(l.Acked) - 2
	}
	b.ReportMetric(float64(databaseSize(b, data)-before)/float64(answers), "answer-B")
}

// costSessions makes sessions and returns a link for the annotators of each.
func costSessions(b *testing.B, program, data, addr string, n int) (links []string) {
	b.Helper()
	for seed := range n {
		out, err := exec.Command(program, "session", "--data", data, "--addr", addr, "--env", "gridworld",
			"--train-every", "1000000", "--seed", strconv.Itoa(seed)).CombinedOutput()
		m := regexp.MustCompile(`Annotator:\s+(\S+)`).FindSubmatch(out)
		if err != nil || m == nil {
			b.Fatalf("session: %v\n%s", err, out)
		}
		links = append(links, string(m[1]))
	}
	return links
}

// idleTabs opens tabs of every annotator that say hello, and returns how many there are.
func idleTabs(b *testing.B, labellers []*loadtest.Labeller, each int) int {
	b.Helper()
	var wg sync.WaitGroup
	for _, l := range labellers {
		wg.Go(func() {
			for range each {
				tab, err := l.Conn.Tab(b.Context())
				if err == nil {
					b.Cleanup(func() { _ = tab.Close() })
					err = tab.Send(&wire.ClientHello{})
				}
				for known := false; err == nil && !known; {
					var m wire.FromServer
					m, err = tab.Recv()
					_, known = m.(*wire.Status)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return each * len(labellers)
}

// databaseSize returns the bytes of the database of a server that has stopped.
func databaseSize(b *testing.B, data string) int64 {
	b.Helper()
	info := must.Get(os.Stat(filepath.Join(data, "tiebreak.db")))(b)
	return info.Size()
}

// A costServer is a running server.
type costServer struct {
	cmd *exec.Cmd
}

func serveCost(b *testing.B, program, data, addr string) costServer {
	b.Helper()
	cmd := exec.Command(program, "serve", "--data", data, "--addr", addr)
	out := must.Get(cmd.StdoutPipe())(b)
	must.Do(b, cmd.Start())
	b.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "Press Ctrl-C") {
			return costServer{cmd}
		}
	}
	b.Fatal("the server did not start")
	return costServer{}
}

// stop ends the server in good order.
func (s costServer) stop(b *testing.B) {
	b.Helper()
	must.Do(b, s.cmd.Process.Signal(os.Interrupt))
	_ = s.cmd.Wait()
}

// memory returns a field of /proc/PID/status in bytes.
func (s costServer) memory(b *testing.B, field string) int64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	m := regexp.MustCompile(field + `:\s+(\d+) kB`).FindSubmatch(status)
	if err != nil || m == nil {
		b.Fatalf("%s: %v", field, err)
	}
	kB, _ := strconv.ParseInt(string(m[1]), 10, 64)
	return kB << 10
}

// processor returns the processor time that the server has taken.
func (s costServer) processor(b *testing.B) time.Duration {
	b.Helper()
	stat := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid)))(b)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] { // utime, stime
		n, _ := strconv.ParseInt(f, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}
