package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// A researcher makes a token on the page, which shows it once, and revokes it there.
func TestTokensPage(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if r := b.get(c, "/tokens"); r.status != 200 || r.lacks("There is no token yet.", "Session s1") != nil {
		t.Errorf("before the first: %d, lacks %v", r.status, r.lacks("There is no token yet.", "Session s1"))
	}
	if r := b.post(c, "/tokens", url.Values{"scope": {"read"}, "session": {"s1"}, "days": {"7"}, "name": {"notebook"}}); r.status != 303 || r.header.Get("Location") != "/tokens" {
		t.Fatalf("make: %d %s", r.status, r.body)
	}
	r := b.get(c, "/tokens")
	token := regexp.MustCompile(`tbk_[\w-]{22}`).FindString(r.body)
	if token == "" || r.lacks("notebook", "valid", "/tokens/1/revoke") != nil {
		t.Fatalf("the page lacks the token, or %v", r.lacks("notebook", "valid", "/tokens/1/revoke"))
	}
	if again := b.get(c, "/tokens"); strings.Contains(again.body, "tbk_") {
		t.Error("the token is shown twice")
	}
	if r := b.api(token, "GET", "/s1", ""); r.status != 200 {
		t.Errorf("the token opens %d %s", r.status, r.body)
	}
	for name, form := range map[string]url.Values{
		"label in all sessions": {"scope": {"label"}}, "no such scope": {"scope": {"all"}}, "no such session": {"scope": {"read"}, "session": {"s7"}}, "two lines": {"scope": {"read"}, "name": {"a\nb"}},
	} {
		if r := b.post(c, "/tokens", form); r.status != 400 || r.lacks("data-error") != nil || strings.Contains(r.body, "tbk_") {
			t.Errorf("%s: %d", name, r.status)
		}
	}
	if r := b.post(c, "/tokens", url.Values{"scope": {"read"}, "days": {"366"}}); r.status != 400 {
		t.Errorf("a year and a day: %d", r.status)
	}
	if r := b.post(c, "/tokens/1/revoke", nil); r.status != 303 {
		t.Errorf("revoke: %d", r.status)
	}
	if r := b.get(c, "/tokens"); r.lacks("revoked") != nil || strings.Contains(r.body, "/tokens/1/revoke") {
		t.Error("the page does not say that the token is revoked")
	}
	wantCode(t, "the revoked token", b.api(token, "GET", "/s1", ""), 401, "unauthorized")
	for _, path := range []string{"/tokens/9/revoke", "/tokens/x/revoke"} {
		if r := b.post(c, path, nil); r.status != 404 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	for who, stranger := range map[string]*http.Client{"a stranger": b.browser(), "an annotator": b.annotator("s1")} {
		if r := b.get(stranger, "/tokens"); r.status != 401 && r.status != 403 || strings.Contains(r.body, "notebook") {
			t.Errorf("%s sees %d", who, r.status)
		}
		if r := b.post(stranger, "/tokens", url.Values{"scope": {"read"}}); r.status != 401 && r.status != 403 {
			t.Errorf("%s makes a token: %d", who, r.status)
		}
	}
}
