package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/web"
)

// fakeHealth is a server's health that a test sets.
type fakeHealth struct {
	mu       sync.Mutex // guards problems and asked
	problems []record.Problem
	asked    int
}

func (f *fakeHealth) set(p ...record.Problem) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problems = p
}

func (f *fakeHealth) Problems(context.Context) []record.Problem {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return f.problems
}

var (
	full    = record.Problem{Reason: "no answer can be recorded: the disk is full", Advice: "Make room."}
	oneClip = record.Problem{Reason: "1 clip is damaged", Advice: "It is not shown.", Minor: true}
)

// Whether the server lives costs nothing to say, and is said whatever is wrong.
func TestHealthz(t *testing.T) {
	var h fakeHealth
	b := newBench(t, func(c *web.Config) { c.Health = &h })
	b.sessions.panics = true // healthz asks for no sessions
	h.set(full)
	for _, when := range []string{"running", "draining"} {
		if r := b.get(b.browser(), "/healthz"); r.status != 200 || r.body != "ok\n" {
			t.Errorf("%s: status %d: %q", when, r.status, r.body)
		}
		must.Do(t, b.web.Drain(t.Context()))
	}
	if h.asked > 0 {
		t.Error("healthz asked for the health of the store")
	}
}

func TestReadyz(t *testing.T) {
	var h fakeHealth
	b := newBench(t, func(c *web.Config) { c.Health = &h })
	for _, test := range []struct {
		name     string
		problems []record.Problem
		status   int
		body     string
	}{
		{"sound", nil, 200, "ready\n"},
		{"full", []record.Problem{full}, 503, full.Reason + "\n"},
		{"minor", []record.Problem{oneClip}, 200, "ready\n"},
		{"both", []record.Problem{oneClip, full}, 503, full.Reason + "\n"},
		{"room was made", nil, 200, "ready\n"},
	} {
		h.set(test.problems...)
		if r := b.get(b.browser(), "/readyz"); r.status != test.status || r.body != test.body {
			t.Errorf("%s: status %d: %q, want %d: %q", test.name, r.status, r.body, test.status, test.body)
		}
	}
	must.Do(t, b.web.Drain(t.Context()))
	if r := b.get(b.browser(), "/readyz"); r.status != 503 || r.body != "stopping\n" {
		t.Errorf("draining: status %d: %q", r.status, r.body)
	}
}

// Researchers are told on every page what is wrong and what to do; nobody else is.
func TestBanner(t *testing.T) {
	var h fakeHealth
	b := newBench(t, func(c *web.Config) { c.Health = &h })
	ada, ann, stranger := b.researcher(), b.annotator("s1"), b.browser()
	join := b.link("s1")
	h.set(full, oneClip)
	for _, path := range []string{"/sessions", "/sessions/new", "/sessions/s1", "/nowhere"} {
		if r := b.get(ada, path); r.lacks("data-problem>", "No answer can be recorded: the disk is full.", full.Advice, oneClip.Advice) != nil {
			t.Errorf("%s does not say what is wrong:\n%s", path, r.body)
		}
	}
	for path, c := range map[string]*http.Client{"/sessions/s1/label": ann, join: ada, "/": stranger, "/sessions": stranger} {
		if r := b.get(c, path); strings.Contains(r.body, "data-problem>") {
			t.Errorf("%s tells somebody who is no researcher:\n%s", path, r.body)
		}
	}
	h.set()
	if r := b.get(ada, "/sessions"); strings.Contains(r.body, "data-problem>") {
		t.Error("a sound server has a banner")
	}
}

// fullAuth is an Auth whose disk is full.
type fullAuth struct{ *auth.Auth }

func (fullAuth) RedeemResearcher(context.Context, string) (auth.Actor, string, error) {
	return auth.Actor{}, "", idrl.Errorf(idrl.Unavailable, "the server's disk is full; nothing was recorded, try again later")
}

// Who holds a sign-in link sees why it cannot be used, before and after it is tried,
// and that it is not used up.
func TestSignInOnAFullDisk(t *testing.T) {
	var h fakeHealth
	var a *auth.Auth
	b := newBench(t, func(c *web.Config) {
		c.Health = &h
		a = c.Auth.(*auth.Auth)
		c.Auth = fullAuth{a}
	})
	token := must.Get(a.NewResearcherLink(t.Context(), "Ada"))(t)
	h.set(full)
	if r := b.get(b.browser(), "/signin?token="+token); r.status != 200 || r.lacks("data-problem>", full.Advice) != nil {
		t.Errorf("status %d, does not say what is wrong:\n%s", r.status, r.body)
	}
	if r := b.get(b.browser(), "/signin?token=nonsense"); strings.Contains(r.body, "data-problem>") {
		t.Error("tells somebody without a link")
	}
	r := b.post(b.browser(), "/signin", url.Values{"token": {token}})
	if r.status != 503 || r.lacks("The server&#39;s disk is full", "link is not used up") != nil {
		t.Errorf("status %d, does not say why:\n%s", r.status, r.body)
	}
}

// A page of a session that stays open hears of problems that come and go.
func TestWatchTellsProblems(t *testing.T) {
	var h fakeHealth
	b := newBench(t, func(c *web.Config) { c.Health = &h })
	web.PingEvery(b.web, time.Millisecond)
	tab := b.open(b.researcher(), "/sessions/s1/watch")
	for _, want := range []string{
		`{"t":"problems","problems":[]}`,
		`{"t":"problems","problems":[{"reason":"No answer can be recorded: the disk is full.","advice":"Make room.","minor":false}]}`,
		`{"t":"problems","problems":[]}`,
	} {
		for {
			if m := string(tab.hear()); strings.HasPrefix(m, `{"t":"problems"`) {
				if m != want {
					t.Errorf("told %s, want %s", m, want)
				}
				break
			}
		}
		if len(h.Problems(t.Context())) == 0 {
			h.set(full)
		} else {
			h.set()
		}
	}
}
