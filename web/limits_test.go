package web_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/web"
	"tiebreak/web/client"
	"tiebreak/web/wire"

	"github.com/gorilla/websocket"
)

// TestPagesWithoutALoginAreLimited: by address, each kind on its own, with a page
// that says what to do.
func TestPagesWithoutALoginAreLimited(t *testing.T) {
	for _, test := range []struct {
		name, method, path string
		cookie             string
		status             int // while the limit lasts
	}{
		{"sign-in", "POST", "/signin", "", 404},
		{"sign-in page", "GET", "/signin?token=AAAAAAAAAAAAAAAAAAAAAA", "", 404},
		{"join", "GET", "/join/AAAAAAAAAAAAAAAAAAAAAA", "", 404},
		{"start page", "GET", "/", "", 200},
		{"health", "GET", "/healthz", "", 200},
		{"readiness", "GET", "/readyz", "", 200},
		{"files", "GET", "/static/none.js", "", 404},
		{"no page", "GET", "/none", "", 404},
		{"pages without a cookie", "GET", "/sessions", "", 403},
		{"pages with a cookie that is none", "GET", "/sessions/s1/label", "tb_s_s1=AAAAAAAAAAAAAAAAAAAAAA", 403},
		{"sockets without a cookie", "GET", "/sessions/s1/ws", "", 403},
		{"keys that are none", "POST", "/sessions/s1/rejoin", "", 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // a refusal takes its time
			b := newBench(t, nil)
			web.Tighten(b.web, 3, 0)
			var r reply
			for n := range 4 {
				r = b.send(b.browser(), test.method, test.path, nil, http.Header{"Cookie": {test.cookie}})
				want := test.status
				if n == 3 {
					want = 429
				}
				if r.status != want {
					t.Fatalf("request %d: status %d, want %d: %s", n, r.status, want, r.body)
				}
			}
			if r.header.Get("Retry-After") != "1" || r.lacks("Wait some seconds", "Nothing that was saved is lost") != nil ||
				r.header.Get("Content-Security-Policy") == "" {
				t.Errorf("the refusal is %v: %s", r.header, r.body)
			}
		})
	}
}

// TestLimitsOfOneAreNotThoseOfAnother: neither a stranger at the same address nor
// another annotator takes anything from somebody who is signed in; and a load
// balancer's health checks go on.
func TestLimitsOfOneAreNotThoseOfAnother(t *testing.T) {
	b := newBench(t, nil)
	researcher, busy, calm := b.researcher(), b.annotator("s1"), b.annotator("s1")
	web.Tighten(b.web, 30, 0)
	stranger := b.browser()
	for b.get(stranger, "/join/none").status != 429 {
	}
	for b.get(busy, "/sessions/s1/label").status != 429 {
	}
	if r := b.get(busy, "/sessions/s1/clips/none"); r.status != 429 {
		t.Errorf("a clip for one who asked too much: status %d", r.status)
	}
	if _, res, err := b.dial(busy, "/sessions/s1/ws", b.url, wire.Subprotocol); err == nil || res.StatusCode != 429 {
		t.Errorf("a socket for one who asked too much: %v, %v", res, err)
	}
	for path, who := range map[string]*http.Client{"/sessions/s1/label": calm, "/sessions": researcher, "/healthz": stranger} {
		if r := b.get(who, path); r.status != 200 {
			t.Errorf("GET %s: status %d", path, r.status)
		}
	}
	tab := b.open(calm, "/sessions/s1/ws")
	tab.send(&wire.ClientHello{})
	wait[*wire.Status](tab)
}

// TestHellosOfAllTabsCountTogether: an annotator has one limit of messages, however
// many sockets; the others have their own.
func TestHellosOfAllTabsCountTogether(t *testing.T) {
	b := newBench(t, nil)
	busy, calm := b.annotator("s1"), b.annotator("s1")
	tabs := []tab{b.open(busy, "/sessions/s1/ws"), b.open(busy, "/sessions/s1/ws"), b.open(busy, "/sessions/s1/ws")}
	other := b.open(calm, "/sessions/s1/ws")
	web.Tighten(b.web, 50, 0) // two hellos and a half
	for _, tab := range tabs[:2] {
		tab.send(&wire.ClientHello{})
		wait[*wire.Hello](tab)
	}
	tabs[2].send(&wire.ClientHello{})
	if nak := wait[*wire.Nak](tabs[2]); nak.Code != wire.Unavailable || nak.RetryMS <= 0 {
		t.Errorf("nak = %+v, want one that says when to come back", *nak)
	}
	tabs[2].send(answerTo(0, "id1")) // answers are cheap
	wait[*wire.Ack](tabs[2])
	other.send(&wire.ClientHello{})
	wait[*wire.Hello](other)
}

// TestTabsOfOneAnnotator: a further socket ends the oldest, which a browser may have
// lost long ago; those of others stay.
func TestTabsOfOneAnnotator(t *testing.T) {
	b := newBench(t, nil)
	web.Tighten(b.web, 1000, 0) // another limit than the one that is meant here
	mine, other := b.annotator("s1"), b.open(b.annotator("s1"), "/sessions/s1/ws")
	var tabs []tab
	for range 17 {
		tab := b.open(mine, "/sessions/s1/ws")
		tab.send(&wire.ClientHello{})
		wait[*wire.Status](tab) // the server counts a socket some time after its handshake
		tabs = append(tabs, tab)
	}
	if code := tabs[0].closed(); code != websocket.CloseTryAgainLater {
		t.Errorf("the oldest of 17 tabs: close code %d, want 1013", code)
	}
	for _, tab := range []tab{tabs[1], tabs[16], other} {
		tab.send(&wire.ClientHello{})
		wait[*wire.Status](tab)
	}
}

// TestLaboratory: a hundred annotators behind one address start at the same time.
func TestLaboratory(t *testing.T) {
	b := newBench(t, nil)
	token := must.Get(b.auth.NewInvitation(t.Context(), "s1", 100, time.Hour))(t)
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			jar, err := cookiejar.New(nil)
			if err != nil {
				t.Error(err)
				return
			}
			c := &http.Client{Jar: jar}
			for _, visit := range []func() (*http.Response, error){
				func() (*http.Response, error) { return c.Get(b.url + "/join/" + token) },
				func() (*http.Response, error) { return c.PostForm(b.url+"/join/"+token, url.Values{}) },
				func() (*http.Response, error) { return c.Get(b.url + "/sessions/s1/label") },
			} {
				res, err := visit()
				if err != nil {
					t.Error(err)
					return
				}
				if res.Body.Close(); res.StatusCode != 200 {
					t.Errorf("%s: %s", res.Request.URL.Path, res.Status)
				}
			}
		})
	}
	group.Wait()
}

// TestWhoIsKnownDoesNotQueue: requests of one address wait for each other only until
// it is known who asks.
func TestWhoIsKnownDoesNotQueue(t *testing.T) {
	b := newBench(t, nil)
	c := b.annotator("s1")
	r, clip := b.researcher(), b.adoptClip("s1")
	tabs := []tab{b.open(c, "/sessions/s1/ws"), b.open(c, "/sessions/s1/ws"), b.open(c, "/sessions/s1/ws")}
	for range 3 { // as many as stand in the queue at once, and one more
		if got := b.get(r, "/sessions/s1/clips/"+clip); got.status != 200 {
			t.Errorf("clip: status %d", got.status)
		}
	}
	for _, tab := range tabs {
		tab.send(&wire.ClientHello{})
		wait[*wire.Status](tab)
	}
}

// TestQueue: of many requests of one address two are worked on at once, and the others
// of it wait, but not those of another.
func TestQueue(t *testing.T) {
	b := newBench(t, func(c *web.Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	var leave []func()
	for range 2 {
		leave = append(leave, web.Enter(b.web, t.Context(), "198.51.100.1"))
	}
	waiting := make(chan int)
	go func() {
		waiting <- b.send(b.browser(), "GET", "/", nil, http.Header{"X-Forwarded-For": {"198.51.100.1"}}).status
	}()
	if r := b.send(b.browser(), "GET", "/", nil, http.Header{"X-Forwarded-For": {"198.51.100.2"}}); r.status != 200 {
		t.Errorf("another address: status %d", r.status)
	}
	select {
	case status := <-waiting:
		t.Errorf("a third request did not wait: status %d", status)
	default:
	}
	leave[0]()
	if status := waittest.For(t, waiting, "the request that waited"); status != 200 {
		t.Errorf("a request that waited: status %d", status)
	}
	leave[1]()
}

// TestLimitsBehindAProxy: people behind a trusted proxy have a limit each; what they
// write into the header themselves does not help.
func TestLimitsBehindAProxy(t *testing.T) {
	b := newBench(t, func(c *web.Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	web.Tighten(b.web, 2, 0)
	from := func(hops string) int {
		return b.send(b.browser(), "GET", "/", nil, http.Header{"X-Forwarded-For": {hops}}).status
	}
	got := []int{from("198.51.100.1"), from("198.51.100.1"), from("198.51.100.2"), from("203.0.113.9, 198.51.100.1"), from("198.51.100.2")}
	for i, want := range []int{200, 200, 200, 429, 200} {
		if got[i] != want {
			t.Fatalf("statuses = %v", got)
		}
	}
}

// TestClientWaits: a program that joins when too many do is put off, and gets in.
func TestClientWaits(t *testing.T) {
	b := newBench(t, nil)
	link := b.link("s1")
	web.Tighten(b.web, 25, 20)
	for b.get(b.browser(), "/").status != 429 {
	}
	c := must.Get(client.Dial(t.Context(), link))(t)
	defer c.Close()
	must.Do(t, c.Send(&wire.ClientHello{Outbox: []idrl.AnswerID{}}))
	if _, err := c.Recv(); err != nil || strings.TrimSpace(c.Base().Path) != "/sessions/s1/label" {
		t.Errorf("at %s: %v", c.Base(), err)
	}
}
