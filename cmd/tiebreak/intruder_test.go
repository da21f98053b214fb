package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/web/client"
	"tiebreak/web/wire"
)

const (
	intruders = 64  // connections of a stranger
	openTabs  = 200 // sockets of one annotator who misbehaves

	heavyReaders = 4    // researchers who read large pages of the session again and again
	heavyAnswers = 1000 // of each annotator, before

	attemptEvery = time.Second / 5000
)

// BenchmarkIntruder measures the latency that four annotators meet, alone and, in
// turns with that, while somebody does as much as the server lets them, but no more
// than 5,000 attempts a second: a stranger with 64 connections, or an annotator of the
// same session with 200 sockets; or researchers who read its large pages, of 4,000 answers; or somebody who imports bundles or uploads
// pictures that are as dear as may be. Server, annotators and intruder share the machine, so
// that what the intruder's own side costs counts too. One iteration is one pair of
// phases.
//
//	alone-p99-ms, attacked-p99-ms  from sending an answer to its acknowledgement
//	ratio  of these two
//	attempts/s  of the intruder, refused or not
//	heap-MB  the most that the heap of Go held, both sides and garbage included
func BenchmarkIntruder(b *testing.B) {
	const answers = 150 // of an annotator in a phase
	for _, attack := range []struct {
		name    string
		workers int
		flood   func(i *intrusion) (try func(ctx context.Context) error)
	}{
		{"charts", heavyReaders, func(i *intrusion) func(context.Context) error { return i.read("charts?page=learning") }},
		{"quality", heavyReaders, func(i *intrusion) func(context.Context) error { return i.read("quality") }},
		{"questions", heavyReaders, func(i *intrusion) func(context.Context) error { return i.read("questions") }},
		{"export", heavyReaders, func(i *intrusion) func(context.Context) error { return i.read("export") }},
		{"dashboard", heavyReaders, func(i *intrusion) func(context.Context) error {
			return i.read(strings.TrimSuffix(i.base.Path, "/label"))
		}},
		{"list of sessions", heavyReaders, func(i *intrusion) func(context.Context) error { return i.read("/sessions") }},
		{"new sessions", heavyReaders, (*intrusion).creating},
		{"token's answers", heavyReaders, (*intrusion).answers},
		{"nobody", 0, func(*intrusion) func(context.Context) error { return nil }}, // how far the ratio strays by itself
		{"health", intruders, func(i *intrusion) func(context.Context) error { return i.get("/healthz", "") }},
		{"sign-in", intruders, func(i *intrusion) func(context.Context) error { return i.post("/signin") }},
		{"join", intruders, func(i *intrusion) func(context.Context) error { return i.get("/join/AAAAAAAAAAAAAAAAAAAAAA", "") }},
		{"cookie", intruders, func(i *intrusion) func(context.Context) error {
			return i.get("/sessions", "tb_user=AAAAAAAAAAAAAAAAAAAAAA")
		}},
		{"hello", openTabs, func(i *intrusion) func(context.Context) error { return i.say(&wire.ClientHello{}) }},
		{"message", openTabs, func(i *intrusion) func(context.Context) error { return i.say(&wire.Renew{Assignment: "none"}) }},
		{"socket", openTabs, func(i *intrusion) func(context.Context) error { return i.say(nil) }},
		{"import bomb", 1, func(i *intrusion) func(context.Context) error { return i.importing() }},
		{"meta.json bomb", 1, func(i *intrusion) func(context.Context) error { return i.importingMeta() }},
		{"upload", 2, func(i *intrusion) func(context.Context) error { return i.uploading() }},
	} {
		b.Run(attack.name, func(b *testing.B) {
			a, labellers := load{env: "gridworld", sessions: 1, each: 5, trainEvery: 1 << 30, think: 20 * time.Millisecond}.openOn(b)
			i := &intrusion{b: b, app: a, conn: labellers[4].Conn, base: labellers[4].Conn.Base()}
			labellers = labellers[:4]
			given := 1
			if attack.workers == heavyReaders {
				i.reader = signIn(b, a, i.base)
				given = heavyAnswers
				for _, l := range labellers {
					l.Think = 0
				}
				labelAll(b, labellers, given)
				for _, l := range labellers {
					l.Think = 20 * time.Millisecond
				}
			}
			phase := func() (waits []time.Duration) {
				given += answers
				labelAll(b, labellers, given)
				for _, l := range labellers {
					waits = append(waits, l.Waits[len(l.Waits)-answers:]...)
				}
				return waits
			}
			var alone, attacked []time.Duration
			var took time.Duration
			flood := attack.flood(i)
			debug.FreeOSMemory()
			most, end := sampleHeap()
			b.ResetTimer()
			for range b.N {
				alone = append(alone, phase()...)
				stop := i.run(attack.workers, flood)
				began := time.Now()
				attacked = append(attacked, phase()...)
				took += time.Since(began)
				stop()
			}
			b.ReportMetric(p99(alone), "alone-p99-ms")
			b.ReportMetric(p99(attacked), "attacked-p99-ms")
			b.ReportMetric(p99(attacked)/p99(alone), "ratio")
			b.ReportMetric(float64(i.attempts.Load())/took.Seconds(), "attempts/s")
			b.ReportMetric(most()/1e6, "heap-MB")
			end()
		})
	}
}

// p99 returns the 99th percentile in milliseconds.
func p99(waits []time.Duration) float64 {
	slices.Sort(waits)
	return float64(waits[len(waits)*99/100].Microseconds()) / 1000
}

// An intrusion is somebody who asks too much.
type intrusion struct {
	b        *testing.B
	app      *app         // of the server
	conn     *client.Conn // of an annotator
	base     *url.URL     // of the annotator's page
	reader   *http.Client // of a researcher
	attempts atomic.Int64
	next     atomic.Int64 // when the next attempt may be, in ns since the epoch
}

// attempt waits until it is time for the next attempt, of whichever worker.
func (i *intrusion) attempt(ctx context.Context) {
	i.attempts.Add(1)
	now := time.Now().UnixNano()
	if late := i.next.Load(); late < now {
		i.next.CompareAndSwap(late, now)
	}
	select {
	case <-time.After(time.Duration(i.next.Add(int64(attemptEvery)) - now)):
	case <-ctx.Done():
	}
}

// run lets so many workers try again and again until stop is called.
func (i *intrusion) run(workers int, try func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				_ = try(ctx) // the server is expected to refuse
			}
		})
	}
	return func() {
		cancel()
		group.Wait()
	}
}

var flooder = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: intruders}, Timeout: 10 * time.Second}

func (i *intrusion) get(path, cookie string) func(context.Context) error {
	return func(ctx context.Context) error { return i.send(ctx, http.MethodGet, path, cookie, "") }
}

func (i *intrusion) post(path string) func(context.Context) error {
	return func(ctx context.Context) error {
		return i.send(ctx, http.MethodPost, path, "", "token=AAAAAAAAAAAAAAAAAAAAAA")
	}
}

func (i *intrusion) send(ctx context.Context, method, path, cookie, form string) error {
	i.attempt(ctx)
	req, err := http.NewRequestWithContext(ctx, method, i.base.ResolveReference(&url.URL{Path: path}).String(), strings.NewReader(form))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Cookie", cookie)
	res, err := flooder.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// signIn returns the browser of a researcher.
func signIn(b *testing.B, a *app, base *url.URL) *http.Client {
	b.Helper()
	token := must.Get(a.auth.NewResearcherLink(b.Context(), "ada"))(b)
	jar := must.Get(cookiejar.New(nil))(b)
	reader := &http.Client{Jar: jar}
	res := must.Get(reader.PostForm(base.ResolveReference(&url.URL{Path: "/signin"}).String(), url.Values{"token": {token}}))(b)
	defer res.Body.Close()
	return reader
}

// read fetches a page of the session.
func (i *intrusion) read(page string) func(context.Context) error {
	at, err := i.base.Parse(page)
	if err != nil {
		i.b.Fatal(err)
	}
	return func(ctx context.Context) error {
		i.attempt(ctx)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return err
		}
		return i.fetch(i.reader, req, http.StatusOK)
	}
}

// say opens a tab and repeats m on it until the tab is closed. Without m it only
// opens the tab.
func (i *intrusion) say(m wire.FromClient) func(context.Context) error {
	return func(ctx context.Context) error {
		i.attempt(ctx)
		tab, err := i.conn.Tab(ctx)
		if err != nil {
			return err
		}
		var group sync.WaitGroup
		defer group.Wait()
		defer tab.Close()
		if m == nil {
			return nil
		}
		group.Go(func() {
			for {
				if _, err := tab.Recv(); err != nil {
					return
				}
			}
		})
		for ctx.Err() == nil {
			i.attempt(ctx)
			if err := tab.Send(m); err != nil {
				return err
			}
		}
		return nil
	}
}
