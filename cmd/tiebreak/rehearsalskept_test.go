package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"tiebreak/internal/check/waittest"
)

// mainPart is the part of a page between the tags <main> and </main>.
var mainPart = regexp.MustCompile(`(?s)<main.*</main>`)

// patiently sends a request until the server does not say that there are too many.
func (v visitor) patiently(send func() (*http.Response, error)) (path, page string) {
	v.t.Helper()
	var status int
	waittest.Until(v.t, "a reply", func() bool {
		path, status, page = v.page(send())
		return status != http.StatusTooManyRequests
	})
	if status != http.StatusOK {
		v.t.Fatalf("%s: status %d\n%s", path, status, page)
	}
	return path, mainPart.FindString(page)
}

// TestRehearsalsSurviveKill: the page of a rehearsal is the same after the program was killed and started again. One that was under way is
// shown as interrupted, is rehearsed again from its page.
func TestRehearsalsSurviveKill(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	start := func() *process { return startServer(t, "serve", "--data", data, "--addr", addr) }
	server, base := start(), "http://"+addr
	v := newVisitor(t)
	v.signIn(signInLink.FindString(server.out.String()))
	get := func(address string) string {
		t.Helper()
		_, page := v.patiently(func() (*http.Response, error) { return v.c.Get(address) })
		return page
	}
	post := func(address string, form url.Values) (to, page string) {
		t.Helper()
		path, page := v.patiently(func() (*http.Response, error) { return v.c.PostForm(address, form) })
		return base + path, page
	}
	ended := func(address string) (page string) {
		t.Helper()
		waittest.Until(t, "the end of a rehearsal", func() bool { page = get(address); return !strings.Contains(page, "data-progress") })
		return page
	}
	short := url.Values{"title": {"Walk"}, "env": {"gridworld"}, "kind": {"state_comparison"}, "budget": {"4"}, "seed": {"3"}, "wage": {"12"}, "do": {"rehearse"}}
	first, _ := post(base+"/sessions", short)
	before := ended(first)
	if !strings.Contains(before, "4 (4 to 4)") || !strings.Contains(before, "12.00 for an hour") || !strings.Contains(before, "data-sample") {
		t.Fatalf("the rehearsal says\n%s", before)
	}
	second, _ := post(base+"/sessions", url.Values{"title": {"Long"}, "env": {"gridworld"}, "budget": {"3000"}, "seed": {"5"}, "do": {"rehearse"}})
	waittest.Until(t, "an answer", func() bool { return regexp.MustCompile(`; [1-9]\d* answers of the next`).MatchString(get(second)) })
	server.kill()

	server = start()
	if after := get(first); after != before {
		t.Errorf("after the restart it says\n%s\nbefore\n%s", after, before)
	}
	if page := get(second); !strings.Contains(page, "data-interrupted") || !strings.Contains(page, "data-again") || strings.Contains(page, `data-lines="expected"`) {
		t.Errorf("the rehearsal that was under way says\n%s", page)
	}
	list := get(base + "/sessions/new")
	for address, how := range map[string]string{first: "done", second: "interrupted"} {
		if !regexp.MustCompile(regexp.QuoteMeta(strings.TrimPrefix(address, base)) + `".*?UTC, ` + how).MatchString(list) {
			t.Errorf("the list does not say %q of %s:\n%s", how, address, list)
		}
	}
	third, page := post(second, url.Values{"do": {"again"}})
	if third == second || !strings.Contains(page, "Rehearsal of Long") {
		t.Fatalf("rehearsed again: %s\n%s", third, page)
	}
	post(third, nil) // stops it
	if page := ended(third); !strings.Contains(page, "The rehearsal was stopped.") {
		t.Errorf("it was stopped, and says\n%s", page)
	}
	fourth, _ := post(first, url.Values{"do": {"again"}})
	stopServer(t, server)
	start()
	if page := get(fourth); !strings.Contains(page, "data-interrupted") {
		t.Errorf("under way when the server was stopped, it says\n%s", page)
	}
}
