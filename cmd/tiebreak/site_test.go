package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/idrl"
)

// TestNetworkDisks: a data folder on a disk of another machine is refused unless it is asked for.
func TestNetworkDisks(t *testing.T) {
	t.Parallel()
	if err := checkDisk("NFS", "study", false); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "study is on a network disk (NFS)") || !strings.Contains(err.Error(), "--network-disk") {
		t.Errorf("refused by %v", err)
	}
	for kind, allowed := range map[string]bool{"": false, "NFS": true} {
		if err := checkDisk(kind, "study", allowed); err != nil {
			t.Errorf("%q, allowed %t: %v", kind, allowed, err)
		}
	}
}

func TestSite(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		addr, bound, origin string
		base                string
		origins             []string
		warning             string // part of the first one; empty for none
	}{
		{"127.0.0.1:8080", "127.0.0.1:8080", "", "http://127.0.0.1:8080", nil, ""},
		{"localhost:0", "127.0.0.1:4321", "", "http://127.0.0.1:4321", nil, ""},
		{"[::1]:8080", "[::1]:8080", "", "http://[::1]:8080", nil, ""},
		{"0.0.0.0:8080", "[::]:8080", "", "http://127.0.0.1:8080", nil, "every address"},
		{":8080", "[::]:8080", "", "http://127.0.0.1:8080", nil, "every address"},
		{"192.0.2.5:8080", "192.0.2.5:8080", "", "http://192.0.2.5:8080", []string{"http://192.0.2.5:8080"}, "without HTTPS"},
		{"lab:8080", "192.0.2.5:8080", "", "http://lab:8080", []string{"http://192.0.2.5:8080", "http://lab:8080"}, "without HTTPS"},
		{"127.0.0.1:8080", "127.0.0.1:8080", "https://study.example.org", "https://study.example.org", []string{"https://study.example.org"}, ""},
		{"0.0.0.0:8080", "[::]:8080", "https://study.example.org/", "https://study.example.org", []string{"https://study.example.org"}, ""},
		{"127.0.0.1:8080", "127.0.0.1:8080", "HTTPS://Study.Example.org:443", "https://study.example.org", []string{"https://study.example.org"}, ""},
		{"127.0.0.1:8080", "127.0.0.1:8080", "http://study.example.org", "http://study.example.org", []string{"http://study.example.org"}, "without HTTPS"},
		{"127.0.0.1:8080", "127.0.0.1:8080", "http://localhost:9000", "http://localhost:9000", []string{"http://localhost:9000"}, ""},
	} {
		t.Run(test.addr+" "+test.origin, func(t *testing.T) {
			s, err := siteOf(test.addr, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(test.bound)), test.origin)
			if err != nil || s.base != test.base || !cmp.Equal(s.origins, test.origins) {
				t.Errorf("base %q, origins %q, %v; want %q, %q", s.base, s.origins, err, test.base, test.origins)
			}
			if s.secure() != strings.HasPrefix(test.base, "https://") {
				t.Errorf("secure = %t", s.secure())
			}
			s.optOuts = new(serveFlags).optOuts(s, nil)
			var said strings.Builder
			warn(&said, s, "")
			if n := strings.Count(said.String(), "WARNING"); test.warning == "" && n > 0 || test.warning != "" && (n != 1 || !strings.Contains(said.String(), test.warning) || !strings.Contains(said.String(), "--origin")) {
				t.Errorf("warnings: %s, want one with %q", &said, test.warning)
			}
		})
	}
}

func TestProxies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		list, origin string
		trusted, not []string
	}{
		{"", "", nil, []string{"127.0.0.1", "::1"}},
		{"", "https://study.example.org", []string{"127.0.0.1", "127.8.8.8", "::1"}, []string{"10.0.0.7"}},
		{"10.0.0.7, 192.0.2.0/24", "https://study.example.org", []string{"10.0.0.7", "192.0.2.200"}, []string{"127.0.0.1", "10.0.0.8"}},
	} {
		ps := must.Get(checkProxies(test.list, test.origin))(t)
		for i, a := range append(slices.Clone(test.trusted), test.not...) {
			got := slices.ContainsFunc(ps, func(p netip.Prefix) bool { return p.Contains(netip.MustParseAddr(a)) })
			if want := i < len(test.trusted); got != want {
				t.Errorf("--proxy %q --origin %q: %s is trusted: %t, want %t", test.list, test.origin, a, got, want)
			}
		}
	}
}

func TestLinksOfACommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ addr, origin, want string }{
		{"127.0.0.1:8080", "", "http://127.0.0.1:8080"},
		{"0.0.0.0:8080", "", "http://127.0.0.1:8080"},
		{"[::]:8080", "", "http://127.0.0.1:8080"},
		{"lab:80", "", "http://lab:80"},
		{":8080", "https://study.example.org/", "https://study.example.org"},
	} {
		if got, err := baseOf(test.addr, test.origin); got != test.want || err != nil {
			t.Errorf("baseOf(%q, %q) = %q, %v; want %q", test.addr, test.origin, got, err, test.want)
		}
	}
	for _, bad := range [][2]string{{"nowhere", ""}, {"127.0.0.1:8080", "study"}} {
		if _, err := baseOf(bad[0], bad[1]); err == nil {
			t.Errorf("baseOf(%q, %q) gave no error", bad[0], bad[1])
		}
	}
}

// TestOpenAddress: a server that listens on every address says what that means,
// prints links that work, and explains itself to browsers that it cannot serve.
func TestOpenAddress(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	must.Do(t, os.Chmod(data, 0o755))
	p := startServer(t, "demo", "--data", data, "--addr", "0.0.0.0:0")
	for _, want := range []string{"WARNING: the server listens on every address", "--origin", "chmod go-rwx " + data} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("no %q in:\n%s", want, p.out)
		}
	}
	link := p.find(t, `Annotator:\s+(\S+)`)
	if !strings.HasPrefix(link, "http://127.0.0.1:") {
		t.Errorf("the annotator's link is %s", link)
	}
	if status := statusAs(t, link, ""); status != http.StatusOK {
		t.Errorf("the printed link gives status %d", status)
	}
	if status := statusAs(t, link, "lab.example:8080"); status != http.StatusMisdirectedRequest {
		t.Errorf("under another name it gives status %d, want 421", status)
	}
}

// TestServedBehindAProxy: a proxy that asks by an address of its own, and adds the
// header for it, carries pages and sockets.
func TestServedBehindAProxy(t *testing.T) {
	t.Parallel()
	addr := freeAddr(t)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: addr})
		r.SetXForwarded()
	}})
	defer proxy.Close()
	p := startServer(t, "demo", "--data", t.TempDir(), "--addr", addr, "--origin", proxy.URL)
	link := p.find(t, `Annotator:\s+(\S+)`)
	if !strings.HasPrefix(link, proxy.URL+"/join/") {
		t.Errorf("the annotator's link is %s, want one of %s", link, proxy.URL)
	}
	if status, stdout, stderr := cli(t, "simulate", "--url", link, "--answers", "3"); status != 0 {
		t.Errorf("simulate through the proxy: status %d\n%s%s", status, stdout, stderr)
	}
}

// statusAs returns the status of a page that is asked for under the name host.
func statusAs(t *testing.T, link, host string) int {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil))(t)
	req.Host = host
	res := must.Get(http.DefaultClient.Do(req))(t)
	res.Body.Close()
	return res.StatusCode
}
