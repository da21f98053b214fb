package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/templates"
	"tiebreak/web"
)

// fakeWorkers are those of a test.
type fakeWorkers struct {
	report record.WorkerReport
	bars   []record.WorkerBar
}

// Report implements web.Workers.
func (f *fakeWorkers) Report(context.Context) (record.WorkerReport, error) {
	return f.report.WithBars(f.bars), nil
}

// Bar implements web.Workers.
func (f *fakeWorkers) Bar(_ context.Context, b record.WorkerBar) error {
	if err := b.Validate(); err != nil {
		return err
	}
	f.bars = append(slices.DeleteFunc(f.bars, func(o record.WorkerBar) bool { return o.Worker == b.Worker }), b)
	return nil
}

// busyWorkers are four workers: one that works, one that is free, one of another version, and one whose results were false.
func busyWorkers() *fakeWorkers {
	at := time.Now().UTC().Add(-5 * time.Minute)
	job := record.WorkerJob{Session: "s1", Title: "Session s1", Kind: "train", Since: at}
	worker := func(name, refused string, wrong int, doing ...record.WorkerJob) record.WorkerState {
		return record.WorkerState{
			Name: name, Host: "host-of-" + name, Cores: 16, Memory: 64000, Version: "v1", Since: at, Slots: 1, Doing: append([]record.WorkerJob{}, doing...), Done: 3,
			False: wrong, Refused: refused,
		}
	}
	return &fakeWorkers{report: record.WorkerReport{
		At: at, Elsewhere: true, Here: []record.WorkerJob{job},
		Workers: []record.WorkerState{
			worker("w1", "", 0, job), worker("w2", "", 0), worker("w3", "it runs version v0, and the server version v1", 0), worker("w4", "its results were false", 2),
		},
		Waiting: []record.WaitingJob{{WorkerJob: job, Needs: []string{"environment ant"}, Why: "no worker has: environment ant"}},
	}}
}

func withWorkers(f *fakeWorkers) func(*web.Config) {
	return func(c *web.Config) {
		if f != nil {
			c.Workers = f
		}
		c.WorkerStarts = []templates.WorkerStart{{By: "With a folder", Serve: "serve-command", Worker: "worker-command"}}
	}
}

// A researcher sees what workers do and what waits, in words, and stops and allows them. Nobody else does.
func TestWorkersPage(t *testing.T) {
	f := busyWorkers()
	b := newBench(t, withWorkers(f))
	c := b.researcher()
	r := b.get(c, "/workers")
	if lacks := r.lacks(
		"host-of-w1, 16 cores, 62 GiB", "Session s1: training", "Works.", "Waits for a job.", "Gets no jobs: it runs version v0, and the server version v1.",
		"Gets no jobs: its results were false.", "2 results were false.", "no worker has: environment ant", "Jobs on the server&#39;s machine", "worker-command", "/js/workers.js",
	); r.status != 200 || lacks != nil {
		t.Errorf("status %d, lacks %v", r.status, lacks)
	}
	if got := b.get(c, "/sessions"); got.lacks(`href="/workers"`) != nil {
		t.Error("the page of sessions does not lead to that of workers")
	}
	post := func(worker, action, why string) reply {
		return b.post(c, "/workers", url.Values{"worker": {worker}, "action": {action}, "why": {why}})
	}
	if r := post("w1", "drain", " It is needed. "); r.status != 303 || r.header.Get("Location") != "/workers" {
		t.Fatalf("drain: %d %s", r.status, r.body)
	}
	post("w2", "ban", "")
	post("gone", "ban", "<b>")
	r = b.get(c, "/workers")
	if lacks := r.lacks("Drained: finishes its job, and gets no other.", "By Ada, under 1 min ago: It is needed.", "Banned: gets no jobs.", "not there now", "&lt;b&gt;"); lacks != nil {
		t.Errorf("after drain and ban the page lacks %v", lacks)
	}
	post("w2", "allow", "")
	post("w4", "allow", "")
	if got := f.bars[len(f.bars)-1]; got.Worker != "w4" || got.Bar != record.WorkerAllowed || got.Who != "Ada" {
		t.Errorf("the last act is %+v", got)
	}
	if r := b.get(c, "/workers"); strings.Contains(r.body, "Banned: gets no jobs.") {
		t.Error("w2 is still banned")
	}
	for name, r := range map[string]reply{"no action": post("w1", "", ""), "another action": post("w1", "kill", ""), "no name": post("", "ban", ""), "a long reason": post("w1", "ban", strings.Repeat("x", 301))} {
		if r.status != 400 {
			t.Errorf("%s: status %d", name, r.status)
		}
	}
	n := len(f.bars)
	for who, stranger := range map[string]*http.Client{"a stranger": b.browser(), "an annotator": b.annotator("s1")} {
		if r := b.get(stranger, "/workers"); r.status != 403 || strings.Contains(r.body, "host-of-w1") {
			t.Errorf("%s sees %d", who, r.status)
		}
		if r := b.post(stranger, "/workers", url.Values{"worker": {"w3"}, "action": {"ban"}}); r.status != 403 {
			t.Errorf("%s bans a worker: %d", who, r.status)
		}
	}
	other := b.send(c, "POST", "/workers", strings.NewReader("worker=w3&action=ban"), http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {"https://elsewhere.example"}, "Sec-Fetch-Site": {"cross-site"},
	})
	if other.status != 403 || len(f.bars) != n {
		t.Errorf("a form of another site bans a worker: %d, %v", other.status, f.bars)
	}
}

// Where there are no workers the page says how to start one.
func TestNoWorkers(t *testing.T) {
	b := newBench(t, withWorkers(nil))
	c := b.researcher()
	if r := b.get(c, "/workers"); r.status != 200 || r.lacks("data-empty", "serve-command", "worker-command", "No job waits.") != nil {
		t.Errorf("status %d, lacks %v", r.status, r.lacks("data-empty", "serve-command", "worker-command", "No job waits."))
	}
	if r := b.post(c, "/workers", url.Values{"worker": {"w1"}, "action": {"ban"}}); r.status != 400 {
		t.Errorf("ban: %d", r.status)
	}
}

// Programs read the same as JSON, unless their token is for one session.
func TestAPIWorkers(t *testing.T) {
	f := busyWorkers()
	f.bars = []record.WorkerBar{{Worker: "w1", Bar: record.WorkerDrained, Who: "Ada", At: time.Now().UTC(), Why: "needed"}}
	b := newBench(t, withWorkers(f))
	c := &caller{b, readContract(t), nil}
	text := c.call("GET", "/api/v1/workers", b.token(identity.ScopeRead, ""), nil, http.StatusOK)
	var got record.WorkerReport
	must.Do(t, json.Unmarshal(text, &got))
	if len(got.Workers) != 4 || got.Workers[0].State != record.WorkerFinishing || got.Workers[3].State != record.WorkerRefused || got.Waiting[0].Why == "" || got.Bars[0].Why != "needed" {
		t.Errorf("the reply is %s", text)
	}
	c.call("GET", "/api/v1/workers", b.token(identity.ScopeRead, "s1"), nil, http.StatusForbidden)
}

// A session that no place can train is refused by page and program, with what is missing, and made where somebody asks for it.
func TestUnplaced(t *testing.T) {
	f := busyWorkers()
	f.report.Unplaced = []record.Unplaced{{Needs: []string{"environment ant"}, Why: "worker w2 lacks environment ant"}}
	b := newBench(t, withWorkers(f))
	c := b.researcher()
	if r := b.get(c, "/workers"); r.lacks("data-unplaced", "Worker w2 lacks environment ant.") != nil {
		t.Error("the page of workers does not say what no place can train")
	}
	b.sessions.unplaced = idrl.Errorf(idrl.Conflict, "worker w2 lacks environment ant")
	form := url.Values{"title": {"Walk"}, "env": {"driver"}}
	r := b.post(c, "/sessions", form)
	if lacks := r.lacks("Worker w2 lacks environment ant.", "data-anyway", `value="Walk"`); r.status != 400 || lacks != nil || len(b.sessions.created) != 0 {
		t.Errorf("status %d, %d sessions, lacks %q", r.status, len(b.sessions.created), lacks)
	}
	form.Set("anyway", "yes")
	if r := b.post(c, "/sessions", form); r.status != 303 || len(b.sessions.created) != 1 {
		t.Errorf("anyway: status %d, %d sessions", r.status, len(b.sessions.created))
	}
	if r := b.get(c, "/sessions/new"); r.lacks("data-anyway") == nil {
		t.Error("the form asks before anything is refused")
	}
	form = url.Values{"title": {"Copy"}, "seed": {"same"}}
	if r := b.post(c, "/sessions/s1/clone", form); r.status != 409 || r.lacks("w2 lacks environment ant") != nil {
		t.Errorf("a copy: status %d", r.status)
	}
	form.Set("anyway", "yes")
	if r := b.post(c, "/sessions/s1/clone", form); r.status != 303 {
		t.Errorf("a copy anyway: status %d", r.status)
	}
	api, token := &caller{b, readContract(t), nil}, b.token(identity.ScopeUpload, "")
	body := func(more string) []byte { return []byte(`{"title": "Reach", "features": ["Speed"]` + more + `}`) }
	if text := api.call("POST", "/api/v1/sessions", token, body(""), http.StatusConflict); !strings.Contains(string(text), "w2 lacks environment ant") {
		t.Errorf("a program is told %s", text)
	}
	api.call("POST", "/api/v1/sessions", token, body(`, "anyway": true`), http.StatusOK)
	api.call("POST", "/api/v1/sessions", token, body(`, "anyway": "yes"`), http.StatusBadRequest)
}
