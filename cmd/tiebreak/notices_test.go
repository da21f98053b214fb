package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/notice"
	"tiebreak/store"
)

// A hookOfTests is a web hook that keeps what it is told, unless it refuses.
type hookOfTests struct {
	t *testing.T

	mu      sync.Mutex // guards what is below
	refuses bool
	refused int
	told    []map[string]any
	took    func() // called with each notice that it takes, before it replies; nil: nothing
}

// ids returns the ids of the notices that it took.
func (h *hookOfTests) ids() (out []any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.told {
		out = append(out, m["id"])
	}
	return out
}

// kills runs a server that is killed when the web hook has taken a notice, before it replies.
func (h *hookOfTests) kills(cmd *exec.Cmd) {
	h.t.Helper()
	started, ended := make(chan struct{}), make(chan struct{})
	set := func(f func()) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.took = f
	}
	set(func() {
		<-started
		_ = cmd.Process.Kill()
		<-ended
	})
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	close(started)
	h.t.Cleanup(func() { _ = cmd.Process.Kill() })
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	waittest.For(h.t, ended, "the end of the server")
	set(nil)
}

// seen returns how many notices it has refused, and the sessions of those that it took.
func (h *hookOfTests) seen() (refused int, of []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.told {
		of = append(of, fmt.Sprint(m["session"], " ", m["kind"]))
	}
	return h.refused, of
}

func (h *hookOfTests) refuse(yes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refuses = yes
}

func (h *hookOfTests) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		h.t.Errorf("%s %q: %s", r.Method, r.Header.Get("Content-Type"), body)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuses {
		h.refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if id, ok := m["id"].(string); !ok || len(id) < 20 || r.Header.Get("Idempotency-Key") != id {
		h.t.Errorf("the id is %v, the header %q", m["id"], r.Header.Get("Idempotency-Key"))
	}
	if h.told = append(h.told, m); h.took != nil {
		h.took()
	}
}

// TestNotices: what is new of sessions is written to the log once, and posted to the web hook when that takes it; no session is loaded
// for it. Neither the log nor errors name the web hook's address.
func TestNotices(t *testing.T) {
	t.Parallel()
	hook := &hookOfTests{t: t}
	server := httptest.NewServer(hook)
	defer server.Close()
	var said strings.Builder
	log := slog.New(slog.NewTextHandler(&said, nil))
	a := must.Get(openApp(t.Context(), t.TempDir(), envs.Catalogue, site{base: "https://study.example.org", quiet: time.Hour, notify: server.URL + "/T0KEN", away: workplaceFlags{here: 1}}, log, program(t), "worker"))(t)
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	spec := must.Get(newSession(t.Context(), a.db, a.envs(), idrl.SessionSpec{Title: "Fruit & <thorns>", Env: "gridworld", Seed: 1}))(t)
	id, now := spec.ID, time.Now()
	look := func(later time.Duration) error {
		t.Helper()
		return a.notices.look(t.Context(), now.Add(later), true)
	}
	a.notices.Publish(id, live.Event{})
	if err := look(0); err != nil || len(a.notices.board.Of(id)) != 0 || a.manager.Running() != 0 {
		t.Fatalf("before anybody has answered: %v, %v, %d sessions are loaded", err, a.notices.board.Of(id), a.manager.Running())
	}
	a.notices.board.Set(id, []notice.Kind{notice.Failed}, []notice.Notice{{Session: id, Kind: notice.Failed}}, now)
	answerAQuestion(t, a, id)
	hook.refuse(true)
	if err := look(2 * time.Hour); err == nil || strings.Contains(err.Error(), "T0KEN") {
		t.Errorf("a web hook that refuses: %v", err)
	}
	hook.refuse(false)
	for range 2 {
		if err := look(3 * time.Hour); err != nil {
			t.Error(err)
		}
	}
	if holds := a.notices.board.Of(id); len(holds) != 1 || holds[0].Kind != notice.Quiet {
		t.Errorf("it holds %+v: the failure is over, and nobody answers", holds)
	}
	if len(hook.told) != 1 {
		t.Fatalf("the web hook was told %v", hook.told)
	}
	page := "https://study.example.org/sessions/" + string(id)
	if m := hook.told[0]; m["kind"] != "quiet" || m["session"] != string(id) || m["url"] != page || m["title"] != "Fruit & <thorns>" ||
		!strings.HasPrefix(m["text"].(string), "Fruit &amp; &lt;thorns&gt;: Nobody has answered since ") || !strings.HasSuffix(m["text"].(string), page) {
		t.Errorf("the web hook was told %v", m)
	}
	if n := strings.Count(said.String(), "msg=notice"); n != 1 || strings.Contains(said.String(), "T0KEN") {
		t.Errorf("the log says it %d times, or has the address of the web hook:\n%s", n, said.String())
	}
}

// TestNoticesOverRestarts: the program itself is ended as by a power cut while the web hook refuses a notice, and sends that after its
// next start. Ended while the web hook takes it, it sends that again under the same id. After one more start it tells what is new alone,
// under another id.
func TestNoticesOverRestarts(t *testing.T) {
	t.Parallel()
	hook := &hookOfTests{t: t}
	server := httptest.NewServer(hook)
	defer server.Close()
	data := t.TempDir()
	args := func() []string {
		return []string{"serve", "--data", data, "--addr", freeAddr(t), "--notify-url", server.URL + "/hook", "--quiet-after", "1ms"}
	}
	start := func() *process { return startServer(t, args()...) }
	told := func(n int) func() bool {
		return func() bool { _, of := hook.seen(); return len(of) >= n }
	}
	first := answeredSession(t, data)
	hook.refuse(true)
	running := start()
	waittest.Until(t, "a refusal of the web hook", func() bool { refused, _ := hook.seen(); return refused > 0 })
	running.kill()
	hook.refuse(false)
	hook.kills(exec.Command(program(t), args()...))
	if !told(1)() {
		t.Fatal("the notice that was refused before was not told")
	}
	running = start()
	waittest.Until(t, "the same notice again", told(2))
	stopServer(t, running)
	second := answeredSession(t, data)
	running = start()
	waittest.Until(t, "a notice of the second session", told(3))
	stopServer(t, running)
	if _, of := hook.seen(); !slices.Equal(of, []string{first + " quiet", first + " quiet", second + " quiet"}) {
		t.Errorf("the web hook was told %q", of)
	}
	if ids := hook.ids(); ids[0] != ids[1] || ids[1] == ids[2] {
		t.Errorf("the ids are %v: want the same one twice and another one", ids)
	}
	db := must.Get(store.Open(t.Context(), data))(t)
	defer db.Close()
	if list, err := db.UnsentNotices(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("there wait %+v, %v", list, err)
	}
	if list, err := db.ToldNotices(t.Context()); err != nil || len(list) != 2 || !list[0].Holds || !list[1].Holds {
		t.Errorf("told: %+v, %v", list, err)
	}
}

// TestNoticesHaveIDs: a notice whose delivery could not be noted is sent again under its id, and then no more; another one has another.
func TestNoticesHaveIDs(t *testing.T) {
	t.Parallel()
	hook := &hookOfTests{t: t}
	server := httptest.NewServer(hook)
	defer server.Close()
	a := newApp(t, site{quiet: time.Hour, notify: server.URL, away: workplaceFlags{here: 1}})
	for _, title := range []string{"Fruit", "Thorns"} {
		spec := must.Get(newSession(t.Context(), a.db, a.envs(), idrl.SessionSpec{Title: title, Env: "gridworld", Seed: 1}))(t)
		answerAQuestion(t, a, spec.ID)
	}
	failing := errors.New("the disk is full")
	a.notices.sent = func(context.Context, int64) error { return failing }
	now := time.Now().Add(2 * time.Hour)
	if err := a.notices.look(t.Context(), now, true); !errors.Is(err, failing) {
		t.Errorf("a delivery that cannot be noted: %v", err)
	}
	a.notices.sent = a.db.SentNotice
	for range 2 {
		if err := a.notices.look(t.Context(), now, true); err != nil {
			t.Error(err)
		}
	}
	if ids := hook.ids(); len(ids) != 3 || ids[0] != ids[1] || ids[1] == ids[2] {
		t.Errorf("the ids are %v: want the same one twice and another one", ids)
	}
}

// stopServer ends a server as an operator does.
func stopServer(t *testing.T, p *process) {
	t.Helper()
	must.Do(t, p.cmd.Process.Signal(os.Interrupt))
	<-p.done
}

// answeredSession makes a session with one answer in a data folder.
func answeredSession(t *testing.T, data string) (id string) {
	t.Helper()
	a := must.Get(openApp(t.Context(), data, envs.Catalogue, site{away: workplaceFlags{here: 1}}, slog.New(slog.DiscardHandler), program(t), "worker"))(t)
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	spec := must.Get(newSession(t.Context(), a.db, a.envs(), idrl.SessionSpec{Title: "Fruit", Env: "gridworld", Seed: 1}))(t)
	answerAQuestion(t, a, spec.ID)
	return string(spec.ID)
}

// answerAQuestion has a new annotator answer one question.
func answerAQuestion(t *testing.T, a *app, id idrl.SessionID) {
	t.Helper()
	who := must.Get(a.db.CreateAnnotator(t.Context(), id, ""))(t)
	s := must.Get(sessions{a}.Session(t.Context(), id))(t)
	var as record.Assignment
	waittest.Until(t, "a question", func() bool {
		offer := must.Get(s.Claim(t.Context(), who))(t)
		if len(offer.Open) > 0 {
			as = offer.Open[0]
		}
		return len(offer.Open) > 0
	})
	must.Get(s.Answer(t.Context(), who, idrl.Answer{ID: "one", Assignment: as.ID, Choice: idrl.Equal, Left: as.Left, Input: "keyboard"}))(t)
}

func TestCheckHook(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"": true, "https://hooks.example.org/services/T/B": true, "http://127.0.0.1:9000/hook": true, "http://localhost/x": true,
		"http://hooks.example.org/x": false, "hooks.example.org": false, "https://": false, "ftp://127.0.0.1/x": false, "https://me:secret@hooks.example.org/x": false,
	} {
		if err := checkHook(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
	if got := withoutPath("https://hooks.example.org/services/T0KEN?key=T0KEN"); got != "https://hooks.example.org/hidden" {
		t.Errorf("redacted: %s", got)
	}
	if got := withoutPath(""); got != "" {
		t.Errorf("none, redacted: %s", got)
	}
}
