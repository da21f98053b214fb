package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/web/wire"
)

// key asks for an annotator's key as the label page does.
func (b *bench) key(c *http.Client, held string) (annotator, name, key string) {
	b.t.Helper()
	r := b.post(c, "/sessions/s1/key", url.Values{"key": {held}})
	var got struct{ Annotator, Name, Key string }
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != http.StatusOK {
		b.t.Fatalf("key: status %d, %v: %s", r.status, err, r.body)
	}
	return got.Annotator, got.Name, got.Key
}

// forget makes a browser lose its cookies.
func forget(t *testing.T, c *http.Client) {
	t.Helper()
	jar := must.Get(cookiejar.New(nil))(t)
	c.Jar = jar
}

// TestRejoin: a browser without its cookie continues as the same annotator.
func TestRejoin(t *testing.T) {
	b := newBench(t, nil)
	b.annotator("s1") // a1
	c := b.annotator("s1")
	who, name, key := b.key(c, "")
	if who != "a2" || name != secretOther || key == "" {
		t.Fatalf("the key of %q, called %q, is %q", who, name, key)
	}
	if _, _, again := b.key(c, key); again != "" {
		t.Errorf("a fresh key is replaced by %q", again)
	}
	forget(t, c)
	if r := b.get(c, "/sessions/s1/label"); r.status != http.StatusForbidden || len(r.lacks(`data-rejoin="s1"`)) > 0 {
		t.Errorf("without a cookie: status %d: %s", r.status, r.body)
	}
	if r := b.post(c, "/sessions/s2/rejoin", url.Values{"key": {key}}); r.status != http.StatusForbidden {
		t.Errorf("the key in another session: status %d", r.status)
	}
	r := b.post(c, "/sessions/s1/rejoin", url.Values{"key": {key}})
	if r.status != http.StatusOK || strings.TrimSpace(r.body) != `{"annotator":"a2"}` {
		t.Fatalf("rejoin: status %d: %s", r.status, r.body)
	}
	for _, part := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(r.header.Get("Set-Cookie"), part) {
			t.Errorf("cookie %q lacks %s", r.header.Get("Set-Cookie"), part)
		}
	}
	tab := b.open(c, "/sessions/s1/ws")
	tab.send(&wire.ClientHello{})
	if hello := wait[*wire.Hello](tab); hello.Annotator != "a2" {
		t.Errorf("the socket answers as %q, want a2", hello.Annotator)
	}
	if names, err := b.db.AnnotatorNames(t.Context(), "s1"); err != nil || len(names) != 2 {
		t.Errorf("%d annotators, want 2 (%v)", len(names), err)
	}
}

// TestRejoinEndsTheOtherLogin: a browser that has become somebody else and
// continues as before is no longer the other.
func TestRejoinEndsTheOtherLogin(t *testing.T) {
	b := newBench(t, nil)
	c := b.annotator("s1")
	_, _, key := b.key(c, "")
	forget(t, c)
	if r := b.post(c, b.link("s1"), url.Values{}); r.status != http.StatusSeeOther {
		t.Fatalf("join: status %d", r.status)
	}
	at := must.Get(url.Parse(b.url))(t)
	second := &http.Client{Jar: c.Jar}
	forget(t, c)
	c.Jar.SetCookies(at, second.Jar.Cookies(at))
	if who, _, _ := b.key(second, ""); who != "a2" {
		t.Fatalf("the browser is %s, want a2", who)
	}
	if r := b.post(c, "/sessions/s1/rejoin", url.Values{"key": {key}}); r.status != http.StatusOK {
		t.Fatalf("rejoin: status %d", r.status)
	}
	if who, _, _ := b.key(c, key); who != "a1" {
		t.Errorf("the browser is %s, want a1", who)
	}
	if r := b.get(second, "/sessions/s1/label"); r.status != http.StatusForbidden {
		t.Errorf("the login as a2 goes on: status %d", r.status)
	}
}

// TestRejoinFromElsewhere: pages of other sites cannot use or fetch a key.
func TestRejoinFromElsewhere(t *testing.T) {
	b := newBench(t, nil)
	c := b.annotator("s1")
	_, _, key := b.key(c, "")
	for _, path := range []string{"/sessions/s1/rejoin", "/sessions/s1/key"} {
		form := strings.NewReader(url.Values{"key": {key}}.Encode())
		r := b.send(c, http.MethodPost, path, form, http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"},
		})
		if r.status != http.StatusForbidden || r.header.Get("Set-Cookie") != "" {
			t.Errorf("POST %s from another site: status %d, cookie %q", path, r.status, r.header.Get("Set-Cookie"))
		}
		if r := b.get(c, path); r.status != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: status %d", path, r.status)
		}
	}
}
