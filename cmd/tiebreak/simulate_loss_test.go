package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
)

// dropping is a server that loses its n-th request, or the reply to it, as one that
// is killed does.
type dropping struct {
	http.Handler
	mu    sync.Mutex // guards all below
	seen  int
	n     int
	after bool // the reply is lost and not the request
}

func (d *dropping) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.seen++
	drop, after := d.seen == d.n, d.after
	d.mu.Unlock()
	if drop && after && !strings.HasSuffix(r.URL.Path, "/ws") { // a socket is its own reply
		d.Handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if !drop {
		d.Handler.ServeHTTP(w, r)
		return
	}
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

// next makes the server lose its n-th request from now on.
func (d *dropping) next(n int, after bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen, d.n, d.after = 0, n, after
}

func (d *dropping) dropped() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen >= d.n
}

// TestSimulateSurvivesALossOfAnyRequest: to join, the page, the socket, the clips.
func TestSimulateSurvivesALossOfAnyRequest(t *testing.T) {
	t.Parallel()
	ctx := context.WithoutCancel(t.Context())
	a := must.Get(openApp(ctx, t.TempDir(), envs.Catalogue, site{}, slog.New(slog.DiscardHandler), program(t), "worker"))(t)
	server := &dropping{Handler: a.web}
	ts := httptest.NewServer(server)
	t.Cleanup(func() {
		_ = a.web.Drain(ctx)
		ts.Close()
		_ = a.close()
	})
	spec := must.Get(newSession(ctx, a.db, a.envs(), idrl.SessionSpec{Title: "drops", Env: "gridworld", Seed: 1}))(t)
	token := must.Get(a.auth.NewInvitation(ctx, spec.ID, 100, time.Hour))(t)
	const answers = 2
	runs := 0
	for n, more := 1, true; more; n++ {
		for _, after := range []bool{false, true} {
			server.next(n, after)
			status, said, errs := cli(t, "simulate", "--url", ts.URL+"/join/"+token, "--answers", fmt.Sprint(answers), "--seed", fmt.Sprint(n))
			if runs++; status != 0 || !strings.Contains(said, fmt.Sprintf("%d answers given", answers)) {
				t.Fatalf("request %d lost, reply %t: status %d\n%s%s", n, after, status, said, errs)
			}
			more = server.dropped()
		}
	}
	if runs < 2*7 { // link, form, page, socket, and at least three clips
		t.Errorf("%d runs cannot have met every request", runs)
	}
	rec := must.Get(a.db.Load(ctx, spec.ID))(t)
	of, assigned := map[idrl.AnnotatorID]int{}, map[idrl.AssignmentID]int{}
	for _, row := range rec.Log {
		of[row.Annotator]++
		assigned[row.Assignment]++
	}
	if len(rec.Log) != answers*runs || len(of) != runs || len(assigned) != len(rec.Log) {
		t.Errorf("%d answers of %d annotators to %d questions after %d runs of %d answers", len(rec.Log), len(of), len(assigned), runs, answers)
	}
}

// TestSimulateSurvivesKills: the server is killed and started again while an expert
// answers; each answer is compared with the truth.
func TestSimulateSurvivesKills(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	p := startServer(t, "demo", "--data", data, "--addr", addr)
	link := p.find(t, `Annotator:\s+(\S+)`)
	out, errs := &syncBuffer{}, &syncBuffer{}
	ended := make(chan int, 1)
	heard := make(chan string, 1000)
	go func() {
		ended <- run(t.Context(), stdio{In: strings.NewReader(""), Out: &telling{out, heard}, Err: errs}, []string{"simulate", "--url", link, "--answers", "29", "--data", data, "--matched", "--every", "1"})
	}()
	for _, mark := range []string{"10 of 29 answers", "20 of 29 answers"} {
		for said := false; !said; {
			select {
			case says := <-heard:
				said = strings.Contains(says, mark)
			case status := <-ended:
				t.Fatalf("it ended before %q: status %d\n%s%s", mark, status, out, errs)
			case <-time.After(loadtest.Wait):
				t.Fatalf("waited %v for %q\n%s%s", loadtest.Wait, mark, out, errs)
			}
		}
		p.kill()
		p = startServer(t, "demo", "--data", data, "--addr", addr)
	}
	if status := waittest.For(t, ended, "the last answers"); status != 0 || !strings.Contains(out.String(), "29 answers given") || strings.Count(out.String(), "  True regret: ") != 29 {
		t.Fatalf("status %d\n%s%s", status, out, errs)
	}
	if _, list, _ := cli(t, "export", "--data", data); !strings.Contains(list, "29 answers") {
		id, _, _ := strings.Cut(list, " ")
		_, rows, _ := cli(t, "export", "--data", data, "--session", id, "--format", "csv")
		t.Errorf("the server has:\n%s\n%s\n%s%s", list, rows, out, errs)
	}
}

// telling passes on what is written to it.
type telling struct {
	*syncBuffer
	heard chan<- string
}

func (t *telling) Write(b []byte) (int, error) {
	t.heard <- string(b)
	return t.syncBuffer.Write(b)
}

// TestSimulateGivesUp: after its patience, and says what the server said.
func TestSimulateGivesUp(t *testing.T) {
	t.Parallel()
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "There is no room on the disk.", http.StatusServiceUnavailable)
	}))
	defer full.Close()
	status, said, errs := cli(t, "simulate", "--url", full.URL+"/join/x", "--patience", "1s")
	if status == 0 || !strings.Contains(errs, "gave up after 1s") || !strings.Contains(errs, "no room on the disk") || !strings.Contains(said, "Trying again in 250ms") {
		t.Errorf("status %d\n%s%s", status, said, errs)
	}
}

func TestSimulateSaysWhyItEnds(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	status, said, errs := cli(t, "session", "--data", data, "--addr", addr, "--env", "gridworld", "--budget", "3")
	if status != 0 {
		t.Fatalf("session: %s", errs)
	}
	made := &process{out: &syncBuffer{}}
	_, _ = made.out.Write([]byte(said))
	link := made.find(t, `Annotator:\s+(\S+)`)
	startServer(t, "serve", "--data", data, "--addr", addr)
	for _, test := range []struct{ answers, want string }{
		{"9", "3 answers given: the session is complete (3 of 3 answers)."},
		{"9", "0 answers given: the session was complete already (3 of 3 answers)."},
	} {
		status, said, errs := cli(t, "simulate", "--url", link, "--answers", test.answers, "--data", data, "--every", "1")
		if status != 0 || !strings.Contains(said, test.want) {
			t.Errorf("status %d, want %q in:\n%s%s", status, test.want, said, errs)
		}
		for _, says := range []string{"True regret: ", "of the best policy there is", "Page says:   at most 5 % with a probability of", "Cosine of the mean weights"} {
			if !strings.Contains(said, says) {
				t.Errorf("no %q in:\n%s", says, said)
			}
		}
	}
}
