package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/store"
)

// metricsOf serves what the system knows of a process, as metrics.
func metricsOf(t testing.TB, pid int) string {
	t.Helper()
	memory := regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		stat, also := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		m := memory.FindSubmatch(status)
		if err != nil || also != nil || m == nil {
			http.Error(w, "the process is gone", http.StatusInternalServerError)
			return
		}
		kib, _ := strconv.Atoi(string(m[1]))
		f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		fmt.Fprintf(w, "# HELP of a test\nprocess_resident_memory_bytes %d\nprocess_cpu_seconds_total %.2f\nother{code=\"1\"} 3\n", kib<<10, float64(user+system)/100)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestLoadtest compares the numbers that the command prints with the rows of the database.
func TestLoadtest(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison", "--train-every", "1000")
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	const annotators, answers = 5, 4
	status, out, errs := cli(t, "loadtest", link, "--annotators", fmt.Sprint(annotators), "--answers", fmt.Sprint(answers), "--dir", data,
		"--metrics", metricsOf(t, p.cmd.Process.Pid), "--idle", "5", "--json")
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	var r loadtest.Report
	must.Do(t, json.Unmarshal([]byte(out), &r))
	if r.Answers != annotators*answers || r.Lost != 0 || r.P50 <= 0 || r.P50 > r.P99 || r.P99 > r.Max || r.SyncsPerSecond <= 0 || r.PerSecond <= 0 {
		t.Errorf("the report is %+v", r)
	}
	if n := len(r.Idle); n != 6 || r.Idle[n-1].Resident == 0 {
		t.Errorf("idle sockets: %+v", r.Idle)
	}
	for k, step := range r.Idle {
		if step.Sockets != k {
			t.Errorf("step %d of idle sockets has %d", k, step.Sockets)
		}
	}
	db, err := store.OpenReadOnly(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rec, err := db.Load(t.Context(), idrl.SessionID(id))
	if want := annotators * (answers + 1); err != nil || len(rec.Log) != want {
		t.Errorf("%d answers are recorded, want %d with each annotator's first: %v", len(rec.Log), want, err)
	}
	status, out, errs = cli(t, "loadtest", link, "--annotators", "1", "--answers", "2", "--seed", "100")
	if status != 0 || !strings.Contains(out, "Answers:         2 acknowledged") || strings.Contains(out, "Idle") {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
	for _, test := range []struct {
		args []string
		says string
	}{
		{nil, "the annotator link is missing"},
		{[]string{"--url", link, "--annotators", "0"}, "at least 1"},
		{[]string{"--url", "http://" + addr}, "is not an annotator link"},
		{[]string{"--url", link, "--annotators", "1", "--answers", "1", "--idle", "16", "--seed", "200"}, "give --annotators 2"},
		{[]string{"--url", link, "--annotators", "1", "--metrics", "http://" + addr + "/healthz", "--seed", "300"}, "are these the metrics of the server?"},
		{[]string{"--url", link, "--dir", data + "/none"}, "no file can be written"},
	} {
		if status, _, errs := cli(t, append([]string{"loadtest"}, test.args...)...); status == 0 || !strings.Contains(errs, test.says) {
			t.Errorf("%q: status %d, %s; want %q", test.args, status, errs, test.says)
		}
	}
}

// BenchmarkIdleSockets measures the memory that an idle socket takes of a server, by 10,000 of them.
func BenchmarkIdleSockets(b *testing.B) {
	program, data, addr := program(b), b.TempDir(), freeAddr(b)
	links := costSessions(b, program, data, addr, 1)
	server := serveCost(b, program, data, addr)
	defer server.stop(b)
	for b.Loop() {
		r, err := loadtest.Run(b.Context(), loadtest.Config{
			Link: links[0], Annotators: 700, Answers: 1, Idle: 10_000, Metrics: metricsOf(b, server.cmd.Process.Pid), Say: func(s string) { b.Log(s) },
		})
		for _, s := range r.Idle {
			b.Logf("%d sockets: %.1f MB, %.0f bytes each", s.Sockets, float64(s.Resident)/1e6, s.PerSocket)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(r.Idle[len(r.Idle)-1].PerSocket, "socket-B")
	}
}
