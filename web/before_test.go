package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/installation"
	"tiebreak/internal/people/identity"
	"tiebreak/web"
)

// The page shows what was found, the worst first, for the address in the browser. Other pages lead admins to it, and nobody else,
// while something is missing.
func TestBeforePeopleAreInvited(t *testing.T) {
	found := []installation.Finding{
		{Name: "mail", State: installation.OK, Says: "Fine <b>."},
		{Name: "disk", State: installation.LookAt, Says: "Look."},
		{Name: "backups", State: installation.Missing, Says: "None.", Do: "Make some.", Command: "tiebreak serve --backup-every 24h"},
	}
	var reach installation.Reach
	var fail error
	var asked atomic.Int32
	b := newBench(t, func(c *web.Config) {
		c.Before = func(_ context.Context, r installation.Reach) ([]installation.Finding, error) {
			asked.Add(1)
			reach = r
			return found, fail
		}
	})
	admin := b.researcher()
	body := b.get(admin, "/before").body
	last := -1
	for _, want := range []string{"One thing is missing.", `data-finding="backups"`, "Make some.", "<code>tiebreak serve --backup-every 24h</code>", `data-finding="disk"`, "Fine &lt;b&gt;."} {
		at := strings.Index(body, want)
		if at <= last {
			t.Errorf("%q is not there, or not in its place:\n%s", want, body)
		}
		last = at
	}
	if reach.URL != b.url {
		t.Errorf("the address is %q, want %q", reach.URL, b.url)
	}
	for _, path := range []string{"/sessions/s1/people", "/sessions/s1/sharing"} {
		if body := b.get(admin, path).body; !strings.Contains(body, "data-before-hint") {
			t.Errorf("%s has no hint", path)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("hints asked again: %d", n)
	}
	if !strings.Contains(b.get(admin, "/sessions").body, `href="/before"`) {
		t.Error("the list of sessions does not lead to the page")
	}
	other := b.account("carl", identity.Researcher)
	b.give("carl", identity.RightOwn)
	if r := b.get(other, "/sessions/s1"); r.status != http.StatusOK || strings.Contains(r.body, "data-before-hint") {
		t.Errorf("a researcher: status %d, or a hint that is for admins", r.status)
	}
	if strings.Contains(b.get(other, "/sessions").body, `href="/before"`) {
		t.Error("the list of a researcher leads to the page")
	}

	found = found[:2]
	if body := b.get(admin, "/before").body; !strings.Contains(body, "Nothing is missing. Look at one thing.") {
		t.Error("nothing is missing, but the page says otherwise")
	}
	if strings.Contains(b.get(admin, "/sessions/s1").body, "data-before-hint") {
		t.Error("a hint although nothing is missing")
	}
	if found = found[:1]; !strings.Contains(b.get(admin, "/before").body, "people can come") {
		t.Error("all is well, but the page says otherwise")
	}
	if fail = errors.New("no disk"); b.get(admin, "/before").status != http.StatusInternalServerError {
		t.Error("a failed check is no error")
	}
}

// A server that checks nothing says so.
func TestBeforeWithoutChecks(t *testing.T) {
	b := newBench(t, nil)
	if body := b.get(b.researcher(), "/before").body; !strings.Contains(body, "does not check") {
		t.Errorf("the page: %s", body)
	}
}

// The address at which the page was opened is an origin of the site, or one of this machine; a name that a proxy uses tells nothing.
func TestAddressOfTheBrowser(t *testing.T) {
	var reach installation.Reach
	b := newBench(t, func(c *web.Config) {
		c.Origins = []string{"https://study.example.org"}
		c.Before = func(_ context.Context, r installation.Reach) ([]installation.Finding, error) {
			reach = r
			return nil, nil
		}
	})
	admin := b.researcher()
	at := must.Get(url.Parse(b.url))(t)
	for host, want := range map[string]string{"study.example.org": "https://study.example.org", "inner:8080": ""} {
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+"/before", nil))(t)
		r.Host = host
		for _, k := range admin.Jar.Cookies(at) { // the client has none for another host
			r.AddCookie(k)
		}
		reply := must.Get(http.DefaultClient.Do(r))(t)
		_ = reply.Body.Close()
		if reply.StatusCode != http.StatusOK || reach.URL != want {
			t.Errorf("%s: status %d, address %q", host, reply.StatusCode, reach.URL)
		}
	}
}
