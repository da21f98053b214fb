package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"golang.org/x/crypto/acme/autocert"

	"tiebreak/internal/check/waittest"
	"tiebreak/store"
)

// A pebble is a running authority: Pebble, with a DNS server for which every name is 127.0.0.1.
type pebble struct {
	directory, manage string
	ca                string // file with the certificate of the authority's own address
	trust             *x509.CertPool
	said              syncBuffer
	stop              func()
}

// startPebble starts an authority that visits sites at these addresses.
func startPebble(t *testing.T, plain, encrypted string) *pebble {
	t.Helper()
	bin := os.Getenv("TIEBREAK_PEBBLE")
	if bin == "" {
		t.Skip("'go tool task test:acme' runs it")
	}
	dir, dns, listen, manage := t.TempDir(), freeAddr(t), freeAddr(t), freeAddr(t)
	p := &pebble{directory: "https://" + listen + "/dir", manage: "https://" + manage, ca: filepath.Join(dir, "ca.pem")}
	p.trust = certify(t, p.ca, filepath.Join(dir, "key.pem"), 7)
	config := filepath.Join(dir, "pebble.json")
	text := must.Get(json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": manage, "certificate": p.ca, "privateKey": filepath.Join(dir, "key.pem"),
		"httpPort": portOf(t, plain), "tlsPort": portOf(t, encrypted), "retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles": map[string]any{"default": map[string]any{"description": "90 days", "validityPeriod": 90 * 24 * 3600}},
	}}))(t)
	must.Do(t, os.WriteFile(config, text, 0o600))
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	names := exec.CommandContext(ctx, filepath.Join(bin, "pebble-challtestsrv"), "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dnsserver", dns, "-management", freeAddr(t),
		"-doh", "", "-http01", "", "-https01", "", "-tlsalpn01", "")
	authority := exec.CommandContext(ctx, filepath.Join(bin, "pebble"), "-config", config, "-dnsserver", dns)
	authority.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	for _, cmd := range []*exec.Cmd{names, authority} {
		cmd.Stdout, cmd.Stderr = &p.said, &p.said
		must.Do(t, cmd.Start())
		t.Cleanup(func() { stop(); _ = cmd.Wait() })
	}
	waittest.Until(t, "Pebble to start", func() bool {
		_, _, err := visitTLS(t, p.trust, p.directory)
		return err == nil
	})
	return p
}

// root returns those who trust the certificates that the authority gives.
func (p *pebble) root(t *testing.T) *x509.CertPool {
	t.Helper()
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.trust, MinVersion: tls.VersionTLS12}}}
	res, err := client.Get(p.manage + "/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(text) {
		t.Fatalf("the root certificate is %q, %v", text, err)
	}
	return pool
}

func portOf(t *testing.T, addr string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// visitNamed opens a page of a named site that is at addr, with a new connection, and returns the reply and the certificate.
func visitNamed(trust *x509.CertPool, addr, page string) (*http.Response, error) {
	browser := http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12},
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
			},
		},
	}
	res, err := browser.Get(page)
	if err == nil {
		res.Body.Close()
	}
	return res, err
}

// TestACMEPebble: a server gets certificates for its names from an authority, by the port for HTTPS or by the one without encryption; it gets none for other
// names, keeps them over a restart, and sends browsers from the port without encryption to its origin.
func TestACMEPebble(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, challenge string }{{"by HTTPS", "tls-alpn-01"}, {"without encryption", "http-01"}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			data, addr, plain := filepath.Join(t.TempDir(), "data"), freeAddr(t), freeAddr(t)
			port, visited := strconv.Itoa(portOf(t, addr)), addr
			args := []string{"--acme-http", ""}
			if test.challenge == "http-01" {
				visited, args = freeAddr(t), []string{"--acme-http", plain} // nothing listens where the authority looks for HTTPS
			}
			authority := startPebble(t, plain, visited)
			origin := "https://study.example.org:" + port
			args = append(args, "serve", "--data", data, "--addr", addr, "--origin", origin, "--acme-domain", "study.example.org,WWW.example.org", "--acme-agree",
				"--acme-directory", authority.directory, "--acme-ca", authority.ca)
			args = append(args[2:], args[:2]...)
			p := startServer(t, args...)
			if !strings.Contains(p.out.String(), "running at "+origin) {
				t.Errorf("it says\n%s", p.out)
			}
			waittest.Until(t, "two certificates", func() bool { return strings.Count(p.out.String(), "there is a certificate") == 2 })
			trust := authority.root(t)
			serials := map[string]string{}
			for _, name := range []string{"study.example.org", "www.example.org"} {
				res, err := visitNamed(trust, addr, "https://"+name+":"+port+"/healthz")
				if err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Strict-Transport-Security"), "max-age=") {
					t.Fatalf("%s: %v, %v\n%s\n%s", name, res, err, p.out, &authority.said)
				}
				serials[name] = res.TLS.PeerCertificates[0].SerialNumber.String()
			}
			if _, err := visitNamed(trust, addr, "https://evil.example.org:"+port+"/healthz"); err == nil {
				t.Error("it has a certificate for another name")
			}
			if strings.Contains(authority.said.String(), "evil.example.org") {
				t.Error("it has asked the authority for another name")
			}
			if test.challenge == "http-01" {
				checkRedirections(t, plain, origin)
			}
			onlyOwner(t, filepath.Join(data, store.CertificateFolder))
			p.kill()
			authority.stop()
			startServer(t, args...)
			for name, serial := range serials {
				res, err := visitNamed(trust, addr, "https://"+name+":"+port+"/healthz")
				if err != nil || res.TLS.PeerCertificates[0].SerialNumber.String() != serial {
					t.Errorf("after a restart without the authority, %s: %v, want the certificate of before", name, err)
				}
			}
		})
	}
}

// checkRedirections checks what is answered without encryption.
func checkRedirections(t *testing.T, plain, origin string) {
	t.Helper()
	for page, want := range map[string]string{
		"http://study.example.org/join/x?a=b":                      fmt.Sprint(http.StatusMovedPermanently, " ", origin, "/join/x?a=b"),
		"http://www.example.org/":                                  fmt.Sprint(http.StatusMovedPermanently, " ", origin, "/"),
		"http://evil.example.org/":                                 fmt.Sprint(http.StatusMisdirectedRequest, " "),
		"http://study.example.org/.well-known/acme-challenge/none": fmt.Sprint(http.StatusNotFound, " "),
	} {
		res := must.Get(visitNamed(nil, plain, page))(t)
		if got := fmt.Sprint(res.StatusCode, " ", res.Header.Get("Location")); got != want {
			t.Errorf("%s is answered by %s, want %s", page, got, want)
		}
	}
}

// onlyOwner checks that other users of the machine can read no file in a folder, which has some.
func onlyOwner(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 3 { // the account, and two certificates
		t.Errorf("%s holds %v, %v", dir, entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

// TestACMEFlags: what cannot be is said before anything is made or asked of an authority.
func TestACMEFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none := filepath.Join(dir, "none.pem")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--acme-domain", "study.example.org"}, "--acme-agree"},
		{[]string{"--acme-agree"}, "without effect"},
		{[]string{"--acme-domain", "*.example.org", "--acme-agree"}, "no name of a site"},
		{[]string{"--acme-domain", "192.0.2.5", "--acme-agree"}, "no name of a site"},
		{[]string{"--acme-domain", "https://study.example.org", "--acme-agree"}, "no name of a site"},
		{[]string{"--acme-domain", "study", "--acme-agree"}, "no name of a site"},
		{[]string{"--acme-domain", "study.example.org", "--acme-agree", "--origin", "http://study.example.org"}, "--origin must be https://"},
		{[]string{"--acme-domain", "study.example.org", "--acme-agree", "--origin", "https://other.example.org"}, "one of the names"},
		{[]string{"--acme-domain", "study.example.org", "--acme-agree", "--tls-cert", none, "--tls-key", none, "--origin", "https://study.example.org"}, "exclude each other"},
		{[]string{"--acme-domain", "study.example.org", "--acme-agree", "--acme-directory", "http://ca.example.org/dir"}, "begins with https://"},
		{[]string{"--acme-domain", "study.example.org", "--acme-agree", "--acme-ca", none}, "cannot be read"},
		{[]string{"--acme-domain", "study.example.org", "--acme-agree", "--acme-http", "192.0.2.1:80"}, "--acme-http"},
	} {
		args := append([]string{"serve", "--data", filepath.Join(dir, "data"), "--addr", freeAddr(t)}, test.args...)
		if status, _, said := cli(t, args...); status == 0 || !strings.Contains(said, test.want) {
			t.Errorf("%v: status %d, %s; want %q", test.args, status, said, test.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
		t.Error("the data folder was made")
	}
	file := writeConfig(t, "acme-domain: study.example.org\n")
	if status, _, said := cli(t, "config", "check", file); status == 0 || !strings.Contains(said, "--acme-agree") {
		t.Errorf("config check: status %d, %s", status, said)
	}
}

// TestACMESite: the names of the site are its origins, and no proxy is believed unless it is named.
func TestACMESite(t *testing.T) {
	t.Parallel()
	f := &serveFlags{addr: ":443", acme: acmeFlags{domains: "Study.example.org, www.example.org", agree: true, directory: "https://ca.example.org/dir"}}
	f.backups.Keep = 1
	at := must.Get(f.site(&net.TCPAddr{IP: net.IPv6zero, Port: 443}))(t)
	if got := fmt.Sprint(at.base, at.origins, at.proxies, at.secure(), f.optOuts(at, nil)); got != "https://study.example.org[https://study.example.org https://www.example.org] [] true []" {
		t.Errorf("the site is %s", got)
	}
}

// TestACMERedirect: whatever is asked for without encryption, browsers are sent to the site alone.
func TestACMERedirect(t *testing.T) {
	t.Parallel()
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	c := &certificates{names: []string{"study.example.org"}, base: "https://study.example.org", plain: ln, manager: &autocert.Manager{HostPolicy: autocert.HostWhitelist("study.example.org")}}
	defer c.close()
	answer := c.unencrypted()
	for _, test := range []struct {
		method, target, host, want string
	}{
		{"GET", "/a%2Fb?c=d", "STUDY.example.org:80", "301 https://study.example.org/a%2Fb?c=d"},
		{"HEAD", "//evil.example.org/x", "study.example.org", "301 https://study.example.org//evil.example.org/x"},
		{"GET", "http://evil.example.org/x", "study.example.org", "421 "},
		{"GET", "/", "", "421 "},
		{"GET", "/.well-known/acme-challenge/x", "study.example.org:80", "404 "},
		{"GET", "/.well-known/acme-challenge/x", "evil.example.org", "421 "},
		{"POST", "/signin", "study.example.org", "400 "},
	} {
		r := httptest.NewRequestWithContext(t.Context(), test.method, test.target, nil)
		if r.URL.Host == "" {
			r.Host = test.host
		}
		w := httptest.NewRecorder()
		answer.ServeHTTP(w, r)
		if got := fmt.Sprint(w.Code, " ", w.Header().Get("Location")); got != test.want {
			t.Errorf("%s %s of %q is answered by %s, want %s", test.method, test.target, test.host, got, test.want)
		}
	}
}

// TestACMELate: a certificate is late when less than a quarter of its life is left: the manager renews it before that.
func TestACMELate(t *testing.T) {
	t.Parallel()
	from := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for days, lives := range map[int][]int{90: {67, 68}, 8: {5, 7}, 360: {269, 271}} {
		cert := &x509.Certificate{NotBefore: from, NotAfter: from.AddDate(0, 0, days)}
		for k, after := range lives {
			if got := late(cert, from.AddDate(0, 0, after)); got != (k == 1) {
				t.Errorf("%d days after the beginning of %d days: late is %t", after, days, got)
			}
		}
	}
}
