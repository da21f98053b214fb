//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/internal/session"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/carriertest"
	"tiebreak/internal/train/jobs"
	"tiebreak/store"
	"tiebreak/store/storetest"
	"tiebreak/web/wire"
)

// readMetrics returns the values of the metrics of a server, by name with labels.
func readMetrics(t *testing.T, a *app) map[string]float64 {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:9090/metrics", nil)
	w := httptest.NewRecorder()
	a.sight(false).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	out := map[string]float64{}
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		line := lines.Text()
		k := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || k < 0 {
			continue
		}
		v, err := strconv.ParseFloat(line[k+1:], 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out[strings.TrimPrefix(line[:k], metricPrefix)] = v
	}
	return out
}

// wantMetrics fails the test unless the metrics have these values.
func wantMetrics(t *testing.T, a *app, want map[string]float64) {
	t.Helper()
	got := readMetrics(t, a)
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			t.Errorf("%s is %v (there: %v), want %v", name, g, ok, v)
		}
	}
}

// awaitMetric waits until a metric has a value that is as it should be; do, if not nil, is called before each look.
func awaitMetric(t *testing.T, a *app, name string, right func(v float64) bool, do func()) {
	t.Helper()
	waittest.Until(t, "another value of "+name, func() bool {
		if do != nil {
			do()
		}
		return right(readMetrics(t, a)[name])
	})
}

// What annotators do is counted: answers, answers that come again, sockets, transactions and jobs.
func TestMetricsOfLabelling(t *testing.T) {
	t.Parallel()
	began := time.Now()
	a, labellers := load{env: "gridworld", sessions: 1, each: 1, trainEvery: 1 << 30}.openOn(t)
	l := labellers[0]
	must.Do(t, l.GoOn(7))
	var last wire.Answer
	for range 2 {
		m := wire.Answer{ID: "late-1", Choice: idrl.ChoseA, ShownAt: time.Now().UTC(), Input: "api", Instructions: 1}
		if last.ID != "" {
			m = last
		} else {
			if q := l.Open(); q != nil {
				m.Assignment, m.ShownLeft = q.Assignment, q.Left
			}
		}
		if last = m; m.Assignment == "" {
			t.Fatal("no question is open")
		}
		must.Do(t, l.Conn.Send(&m))
		awaitAck(t, l, m.ID)
	}
	wantMetrics(t, a, map[string]float64{
		`answers_acknowledged_total{replay="false"}`: 8, `answers_acknowledged_total{replay="true"}`: 1,
		`acknowledge_seconds_count`: 9, `acknowledge_seconds_bucket{le="+Inf"}`: 9,
		`sockets_open`: 1, `ready`: 1, `jobs{state="done"}`: 1, `jobs{state="running"}`: 0, `jobs{state="queued"}`: 0, `jobs{state="failed"}`: 0,
		`job_heartbeat_age_seconds`: 0, `slow_clients_disconnected_total`: 0, `leases_expired_total`: 0,
	})
	got := readMetrics(t, a)
	if sum := got["acknowledge_seconds_sum"]; sum <= 0 || sum > time.Since(began).Seconds() {
		t.Errorf("9 answers, one after the other, took %v s of %v", sum, time.Since(began))
	}
	if n := got["commit_batch_size_count"]; n < 8 || got["commit_batch_size_sum"] < n {
		t.Errorf("%v transactions with %v writes, for 8 answers", n, got["commit_batch_size_sum"])
	}
	_ = l.Conn.Close()
	awaitMetric(t, a, "sockets_open", func(v float64) bool { return v == 0 }, nil)
}

// awaitAck takes messages until an answer is acknowledged.
func awaitAck(t *testing.T, l *loadtest.Labeller, id idrl.AnswerID) {
	t.Helper()
	for limit := time.Now().Add(waittest.Limit); ; {
		m := must.Get(l.Recv(limit))(t)
		if ack, ok := m.(*wire.Ack); ok && ack.ID == id {
			return
		}
	}
}

// Each metric that no answer changes says what is so.
func TestMetricsOfTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, links := stuckIn(t, dir, 1)
	wantMetrics(t, a, map[string]float64{
		`workers{place="here"}`: float64(workers), `workers{place="elsewhere"}`: 0, `workers_busy{place="here"}`: 0, `workers_busy{place="elsewhere"}`: 0,
		`writer_queue_depth`: 0, fmt.Sprintf(`build_info{format="%d",version="%s"}`, store.Format(), readVersion(t)): 1,
	})
	waitsFor(t, links[0], "first clips") // a worker that does nothing has the job
	awaitMetric(t, a, `jobs{state="running"}`, func(v float64) bool { return v == 1 }, nil)
	wantMetrics(t, a, map[string]float64{`workers_busy{place="here"}`: 1, `workers_busy{place="elsewhere"}`: 0, `jobs{state="done"}`: 0})

	counts := a.web.Counts() // TestSlowClientIsCounted checks what they count
	counts.Slow.Add(3)
	counts.Dropped.Add(17)
	wantMetrics(t, a, map[string]float64{"slow_clients_disconnected_total": 3, "messages_dropped_total": 17})

	info := must.Get(os.Stat(filepath.Join(dir, store.FileName+"-wal")))(t)
	if got := readMetrics(t, a)["wal_bytes"]; got != float64(info.Size()) || got == 0 {
		t.Errorf("the log has %v bytes, want %d", got, info.Size())
	}
	free, known := a.db.FreeBytes()
	got, is := readMetrics(t, a)["disk_free_bytes"]
	if known != is || known && (got < float64(free)/2 || got > float64(free)*2) { // other programs write meanwhile
		t.Errorf("%v bytes are free (told: %v), want about %d (known: %v)", got, is, free, known)
	}
	must.Do(t, a.web.Drain(context.WithoutCancel(t.Context())))
	wantMetrics(t, a, map[string]float64{"ready": 0})
}

// readVersion returns the version that 'tiebreak version' prints, as a label.
func readVersion(t *testing.T) string {
	t.Helper()
	line, _, _ := strings.Cut(mustCLI(t, "version"), "\n")
	return strings.TrimSpace(strings.TrimPrefix(line, "tiebreak"))
}

// The age of the last sign of life of a job is that of the job that is silent for longest.
func TestMetricOfHeartbeats(t *testing.T) {
	t.Parallel()
	a, _ := stuck(t, 2)
	list := must.Get(a.db.Sessions(t.Context()))(t)
	now := time.Now()
	for k, ago := range []time.Duration{time.Hour, time.Minute} {
		key := record.JobKey{Session: list[k].Spec.ID, Kind: "test", BasedOn: 1}
		must.Do(t, a.db.QueueJob(t.Context(), record.JobRecord{JobKey: key, Payload: []byte("x")}, now))
		if _, _, err := a.db.BeginJob(t.Context(), key, now, now.Add(jobs.Config{}.Lease()-ago)); err != nil {
			t.Fatal(err)
		}
	}
	if v := readMetrics(t, a)["job_heartbeat_age_seconds"]; v < 3600 || v > 3600+time.Since(now).Seconds()+1 {
		t.Errorf("the first job is silent for %v s, want 3600", v)
	}
}

// A lease that ends without an answer is counted once.
func TestMetricOfLeases(t *testing.T) {
	t.Parallel()
	a, _ := serveInside(t)
	var later atomic.Int64
	a.manager.Close()
	a.manager = session.NewManager(a.db, func(r record.Record) (session.Config, error) {
		cfg, err := a.build(r)
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		return cfg, err
	}, a.log)
	spec := must.Get(newSession(t.Context(), a.db, a.envs(), idrl.SessionSpec{Title: "leases", Env: "gridworld", Seed: 1}))(t)
	who := must.Get(a.db.CreateAnnotator(t.Context(), spec.ID, ""))(t)
	s := must.Get(sessions{a}.Session(t.Context(), spec.ID))(t)
	claim := func() int {
		offer := must.Get(s.Claim(t.Context(), who))(t)
		return len(offer.Open)
	}
	held := 0
	waittest.Until(t, "questions", func() bool {
		held = claim()
		return held > 0
	})
	later.Store(int64(time.Hour)) // the page was away
	claim()
	claim()
	wantMetrics(t, a, map[string]float64{"leases_expired_total": float64(held)})
}

// Writes wait while another program holds the database.
func TestMetricOfTheQueue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, _ := stuckIn(t, dir, 0)
	release := must.Get(storetest.Lock(t.Context(), dir))(t)
	var all sync.WaitGroup
	awaitMetric(t, a, "writer_queue_depth", func(v float64) bool { return v >= 2 }, func() {
		all.Go(func() { _ = a.db.SetMeta(t.Context(), "test", "x") }) // fails after some seconds
	})
	must.Do(t, release())
	all.Wait()
	wantMetrics(t, a, map[string]float64{"writer_queue_depth": 0})
}

// Workers on other machines are counted by what they can do at a time, and by what they do.
func TestMetricOfWorkersElsewhere(t *testing.T) {
	t.Parallel()
	a, _ := stuck(t, 0)
	network := &carriertest.Network{}
	hub := elsewhere.NewHub(elsewhere.HubConfig{Pool: a.pool, Version: "v1", Barred: a.bars.Of, Log: a.log})
	a.away = &workplace{hub: hub, stop: func() {}}
	agent := must.Get(elsewhere.NewAgent(elsewhere.AgentConfig{
		Carrier: network.Dial(), Offer: elsewhere.Offer{Worker: "lab7", Host: "seven", Version: "v1", Cores: 8}, Slots: 3,
		Command: func(string) []string { return []string{"sh", "-c", "cat > /dev/null"} }, Here: 50 * time.Millisecond, Log: a.log,
	}))(t)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _ = hub.Run(ctx, network.Dial()) })
	all.Go(func() { _ = agent.Run(ctx) })
	awaitMetric(t, a, `workers{place="elsewhere"}`, func(v float64) bool { return v == 3 }, nil)
	const here, away = `workers_busy{place="here"}`, `workers_busy{place="elsewhere"}`
	wantMetrics(t, a, map[string]float64{`workers{place="here"}`: float64(workers), here: 0, away: 0})
	end := startLong(t, a, workers+3) // more than there are places for long jobs
	awaitMetric(t, a, away, func(v float64) bool { return v == 3 }, nil)
	awaitMetric(t, a, here, func(v float64) bool { return v > 0 }, nil)
	if got := readMetrics(t, a); got[away] != 3 || got[here] > float64(workers) || got[`workers{place="elsewhere"}`] != 3 {
		t.Errorf("of %d jobs %v are done here and %v elsewhere, with places for %d and 3", workers+3, got[here], got[away], workers)
	}
	end()
	awaitMetric(t, a, away, func(v float64) bool { return v == 0 }, nil)
	awaitMetric(t, a, here, func(v float64) bool { return v == 0 }, nil)
	stop()
	all.Wait()
}

// startLong starts jobs that take an hour each, of a session each, until end is called.
func startLong(t *testing.T, a *app, n int) (end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range n {
		spec := must.Get(newSession(t.Context(), a.db, a.envs(), idrl.SessionSpec{Title: "long", Env: "gridworld", Seed: 1}))(t)
		job := jobs.Job{JobKey: record.JobKey{Session: spec.ID, Kind: "test"}, Like: "long", Work: time.Hour, Payload: []byte("x")}
		all.Go(func() {
			for _, err := range a.pool.Start(ctx, job) {
				if err != nil && ctx.Err() == nil {
					t.Errorf("a job ended: %v", err)
				}
			}
		})
	}
	return func() {
		stop()
		all.Wait()
	}
}

// The age of the last backup is there if it is known that there is one.
func TestMetricOfBackups(t *testing.T) {
	t.Parallel()
	a, _ := stuck(t, 0)
	const name = "backup_age_seconds"
	if _, is := readMetrics(t, a)[name]; is {
		t.Error("an age, though nothing tells of backups")
	}
	var at time.Time
	a.backedUp = func(context.Context) (time.Time, error) { return at, nil }
	if _, is := readMetrics(t, a)[name]; is {
		t.Error("an age without a backup")
	}
	at = time.Now().Add(-time.Hour)
	if v := readMetrics(t, a)[name]; v < 3600 || v > 3600+waittest.Limit.Seconds() {
		t.Errorf("the backup is %v s old, want 3600", v)
	}
}

// Metrics have an address of their own, which is off unless asked for, and not for other machines.
func TestMetricsListener(t *testing.T) {
	t.Parallel()
	data, addr, own := t.TempDir(), freeAddr(t), freeAddr(t)
	for _, refused := range []string{"0.0.0.0:0", ":9090", "192.0.2.1:9090", "example.org:9090", "[::]:9090", "9090"} {
		status, _, errs := cli(t, "serve", "--data", data, "--addr", addr, "--metrics", refused)
		if status != 2 || !strings.Contains(errs, "--metrics") {
			t.Errorf("--metrics %s: status %d, %s", refused, status, errs)
		}
	}
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("a refused start leaves %v, %v", left, err)
	}
	startServer(t, "serve", "--data", data, "--addr", addr, "--metrics", own)
	for url, want := range map[string]string{
		"http://" + own + "/metrics":                        "\ntiebreak_ready 1\n",
		"http://" + own + "/debug/pprof/":                   "goroutine",
		"http://" + own + "/debug/pprof/goroutine?debug=1":  "main.serve",
		"http://" + own + "/debug/pprof/profile?seconds=1":  "\x1f\x8b", // gzip
		"http://" + own + "/":                               "/metrics",
		"http://" + addr + "/metrics":                       "404",
		"http://" + addr + "/debug/pprof/goroutine?debug=1": "404",
	} {
		status, _, body := fetch(t, "", url)
		if text := fmt.Sprint(status, body); !strings.Contains(text, want) {
			t.Errorf("%s: %.300s; want %q in it", url, text, want)
		}
	}
	if status, _, body := fetch(t, "rebound.example:9090", "http://"+own+"/metrics"); status != http.StatusMisdirectedRequest {
		t.Errorf("by another name: status %d, %s", status, body)
	}
}

// fetch gets a page as a host; empty for that of the address.
func fetch(t *testing.T, host, url string) (status int, header http.Header, body string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	req.Host = host
	res := must.Get(http.DefaultClient.Do(req))(t)
	defer res.Body.Close()
	var b strings.Builder
	must.Get(bufio.NewReader(res.Body).WriteTo(&b))(t)
	return res.StatusCode, res.Header, b.String()
}

// The table of docs/operating.md has exactly the metrics of a server.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	a, _ := stuck(t, 0)
	a.backedUp = func(context.Context) (time.Time, error) { return time.Time{}, nil }
	var want []string
	for _, m := range a.metrics() {
		name, help := metricPrefix+m.name, m.help
		if len(m.labels) > 0 {
			name += "{" + strings.Join(m.labels, ",") + "}"
		}
		if m.sizes != nil {
			help += " (histogram)"
		}
		want = append(want, fmt.Sprintf("| `%s` | %s |", name, help))
	}
	page := must.Get(os.ReadFile("../../docs/operating.md"))(t)
	var got []string
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `"+metricPrefix) {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/operating.md differs (-registry +page):\n%s", diff)
	}
}
