package web_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/web"
)

// TestLogHoldsNoSecrets: with every request in the log, it holds none of the tokens
// of links, of cookies, and no name.
func TestLogHoldsNoSecrets(t *testing.T) {
	var logs *buffer
	b := newBench(t, func(c *web.Config) {
		logs = &buffer{}
		c.Log = slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	sign := must.Get(b.auth.NewResearcherLink(t.Context(), "SECRET-RESEARCHER"))(t)
	join := strings.TrimPrefix(b.link("s1"), b.url+"/join/")
	secrets := []string{sign, join, "SECRET", "127.0.0.1", "cookie", "Cookie"}

	ada, bo := b.browser(), b.browser()
	b.get(ada, "/signin?token="+sign)
	b.post(ada, "/signin", url.Values{"token": {sign}})
	b.get(b.browser(), "/signin?token="+sign) // used up: refused
	b.get(bo, "/join/"+join)
	b.post(bo, "/join/"+join, url.Values{"name": {"SECRET-NAME"}})
	b.get(bo, "/joinn/"+join)        // mistyped
	b.get(bo, "/join/"+join+"/more") // mistyped
	b.get(bo, "/sessions/s1/label?token="+join)
	b.get(bo, "/sessions/s1") // refused
	b.send(bo, "SECRET-METHOD", "/", nil, nil)
	b.get(ada, "/sessions/s1")
	b.get(ada, "/sessions/"+join)
	b.open(bo, "/sessions/s1/ws")
	u := must.Get(url.Parse(b.url))(t)
	for _, browser := range []*http.Client{ada, bo} {
		for _, k := range browser.Jar.Cookies(u) {
			secrets = append(secrets, k.Value)
		}
	}
	logs.wait(t, `"status":101`)
	b.server.Close() // waits for the other requests, and so for their lines

	text := logs.String()
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q:\n%s", secret, text)
		}
	}
	var lines []string
	ids := map[string]bool{}
	for line := range strings.Lines(text) {
		var e struct {
			Level, Msg, ID, Method, Route, Session, Actor string
			Status                                        int
			MS                                            float64
			Bytes                                         int64
		}
		must.Do(t, json.Unmarshal([]byte(line), &e))
		if e.Msg == "signed in" {
			lines = append(lines, strings.Join([]string{e.Level, e.Msg, e.Actor, e.Session}, " "))
			continue
		}
		if len(e.ID) != 16 || ids[e.ID] || e.MS <= 0 || e.Bytes <= 0 && e.Status != 303 && e.Status != 101 {
			t.Errorf("line %s lacks an id of its own, a duration or a size", line)
		}
		ids[e.ID] = true
		lines = append(lines, strings.Join([]string{e.Level, e.Msg, e.Method, e.Route, http.StatusText(e.Status), e.Actor, e.Session}, " "))
	}
	for _, want := range []string{
		"DEBUG request GET /signin OK  ", "INFO signed in admin ", "DEBUG request POST /signin See Other admin ",
		"INFO request refused GET /signin Not Found  ", "INFO signed in annotator s1", "DEBUG request POST /join/:token See Other annotator ",
		"INFO request refused GET /sessions/:id Forbidden  ", "DEBUG request GET /sessions/:id/label OK annotator s1",
		"DEBUG request GET /sessions/:id OK admin s1", "DEBUG request GET /sessions/:id/ws Switching Protocols annotator s1",
		"DEBUG request GET  Not Found  ",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in:\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// TestRefusalsDoNotFillTheLog: a stranger who tries links all day is seen, and
// counted, but does not fill the disk.
func TestRefusalsDoNotFillTheLog(t *testing.T) {
	b := newBench(t, nil)
	c := b.browser()
	for range 100 {
		b.get(c, "/sessions")
	}
	b.server.Close()
	if n := strings.Count(b.logs.String(), "request refused"); n < 10 || n > 80 {
		t.Errorf("lines about 100 refusals: %d", n)
	}
}

func TestRequestIDs(t *testing.T) {
	b := newBench(t, nil)
	b.sessions.panics = true
	r := b.get(b.researcher(), "/sessions")
	id := r.header.Get("X-Request-Id")
	if len(id) != 16 || r.lacks(id) != nil || !strings.Contains(b.logs.String(), "id="+id) {
		t.Errorf("the page and the log do not name request %q: %s\n%s", id, r.body, b.logs)
	}
}
