package web_test

import (
	"net/http"
	"strings"
	"testing"

	"tiebreak/web"
)

// getAs asks for a page under the name host.
func (b *bench) getAs(c *http.Client, method, path, host string) reply {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	c2 := *c
	c2.Transport = named{host}
	return b.sendRequest(&c2, req)
}

// named sends requests under another Host, and leaves the cookies to the client.
type named struct{ host string }

func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = n.host
	return http.DefaultTransport.RoundTrip(r)
}

// TestLinksFollowTheConfiguration: what a browser, a proxy or a stranger puts into
// the Host header does not get into a link.
func TestLinksFollowTheConfiguration(t *testing.T) {
	for _, test := range []struct {
		name, base string
		origins    []string
		host       string
		want, note string
	}{
		{"behind a proxy", "https://study.example.org", []string{"https://study.example.org"}, "127.0.0.1:8080", "https://study.example.org/join/", ""},
		{"a stranger's header", "https://study.example.org", []string{"https://study.example.org"}, "evil.example", "https://study.example.org/join/", ""},
		{"this machine only", "http://127.0.0.1:8080", nil, "localhost:9999", "http://127.0.0.1:8080/join/", "--origin"},
		{"no address", "", nil, "localhost:9999", "/join/", "Add the address of this site in front of the link."},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, func(c *web.Config) { c.Base, c.Origins = test.base, test.origins })
			c := b.researcher()
			if r := b.getAs(c, http.MethodPost, "/sessions/s1/invitations", test.host); r.status != 303 || r.header.Get("Location") != "/sessions/s1/people" {
				t.Fatalf("status %d to %q", r.status, r.header.Get("Location"))
			}
			r := b.getAs(c, http.MethodGet, "/sessions/s1/people", test.host)
			_, rest, _ := strings.Cut(r.body, `readonly value="`)
			link, _, _ := strings.Cut(rest, `"`)
			if r.status != 200 || !strings.HasPrefix(link, test.want) || len(link) != len(test.want)+22 || strings.Contains(r.body, test.host) {
				t.Errorf("status %d, link %q, want %sTOKEN", r.status, link, test.want)
			}
			if has := strings.Contains(r.body, "data-invite-note"); has != (test.note != "") || r.lacks(test.note) != nil {
				t.Errorf("note: %t, want %q", has, test.note)
			}
		})
	}
}

// TestUnknownAddress: where sockets would be refused, pages say why.
func TestUnknownAddress(t *testing.T) {
	b := newBench(t, nil)
	c := b.annotator("s1")
	for path, want := range map[string]int{
		"/": 421, "/join/x": 421, "/sessions/s1/label": 421, "/sessions": 421, "/sessions/s1/ws": 421, "/nothing": 421,
		"/healthz": 200, "/static/none.js": 404,
	} {
		r := b.getAs(c, http.MethodGet, path, "lab.example:8080")
		if r.status != want || want == 421 && r.lacks("--origin") != nil || r.header.Get("Content-Security-Policy") == "" {
			t.Errorf("GET %s under another name: status %d, want %d and how to mend it", path, r.status, want)
		}
	}
	for _, host := range []string{"localhost:1", "[::1]:1", "127.9.9.9", "localhost"} {
		if r := b.getAs(c, http.MethodGet, "/sessions/s1/label", host); r.status != 200 {
			t.Errorf("label under %s: status %d", host, r.status)
		}
	}
	proxied := newBench(t, func(c *web.Config) { c.Origins = []string{"https://study.example"} })
	if r := proxied.getAs(proxied.annotator("s1"), http.MethodGet, "/sessions/s1/label", "upstream"); r.status != 200 {
		t.Errorf("behind a proxy that asks by a name of its own: status %d", r.status)
	}
}
