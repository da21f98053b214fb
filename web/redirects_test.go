package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tiebreak/web"
)

// Redirects lead to addresses of the server, whatever the request asks for.
func TestRedirectsStayHere(t *testing.T) {
	b := newBench(t, func(c *web.Config) { c.Origins = []string{"https://study.example.org"} })
	admin, stranger := b.researcher(), b.browser()
	n := 0
	check := func(what string, r reply) {
		to := r.header.Get("Location")
		if to == "" {
			return
		}
		n++
		if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, `/\`) {
			t.Errorf("%s leads to %q", what, to)
		}
	}
	fill := strings.NewReplacer(":id", "s1", ":token", "x", ":link", "1", ":annotator", "a1", ":clip", "c1", "*", "/evil.example")
	for _, address := range web.Addresses() {
		if strings.HasSuffix(address, "/watch") || strings.HasSuffix(address, "/ws") {
			continue
		}
		for _, path := range []string{fill.Replace(address), fill.Replace(address) + "?next=https://evil.example&return=//evil.example", "//evil.example" + fill.Replace(address), fill.Replace(address) + "/"} {
			check(path, b.get(admin, b.url+path))
			check(path, b.get(stranger, b.url+path))
		}
	}
	for path, form := range map[string]url.Values{
		"/signout": {}, "/sessions/s1/title": {"title": {"x"}}, "/sessions/s1/clone": {"title": {"x"}, "seed": {"same"}}, "/sessions/s1/budget": {"budget": {"9"}, "back": {"https://evil.example"}},
	} {
		form.Set("next", "https://evil.example")
		check(path, b.send(admin, http.MethodPost, path, strings.NewReader(form.Encode()), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}))
	}
	if n < 20 {
		t.Errorf("only %d redirects were seen", n)
	}
}
