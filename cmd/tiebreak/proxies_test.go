package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
)

// A proxied is a server behind a proxy that an example of the documents configures.
type proxied struct {
	t      *testing.T
	data   string
	addr   string // of the server
	origin string
	trust  *x509.CertPool
	cert   string // file
	server *process
	said   syncBuffer // by the proxy
}

// An example is a configuration in docs/deploy, and how a test starts its program with it.
type example struct {
	file, program string
	config        func(p *proxied, text string) string // of the test, from the example
	args          func(config string) []string
}

// swap replaces parts of an example, which it must have once, so that the test runs what the document says.
func (p *proxied) swap(text string, pairs ...string) string {
	p.t.Helper()
	for k := 0; k < len(pairs); k += 2 {
		if strings.Count(text, pairs[k]) != 1 {
			p.t.Fatalf("the example has %q %d times, want once", pairs[k], strings.Count(text, pairs[k]))
		}
		text = strings.Replace(text, pairs[k], pairs[k+1], 1)
	}
	return text
}

func examples() []example {
	return []example{
		{"nginx.conf", "TIEBREAK_NGINX", func(p *proxied, text string) string {
			dir := filepath.Dir(p.cert)
			text = p.swap(text, "listen 80;", "listen "+freeAddr(p.t)+";", "listen 443 ssl;", "listen "+strings.TrimPrefix(p.origin, "https://")+" ssl;",
				"/etc/letsencrypt/live/study.example.org/fullchain.pem", p.cert, "/etc/letsencrypt/live/study.example.org/privkey.pem", filepath.Join(dir, "key.pem"),
				"http://127.0.0.1:8080", "http://"+p.addr)
			scratch := ""
			for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				scratch += fmt.Sprintf("%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
			}
			return fmt.Sprintf("daemon off;\nuser root;\nerror_log stderr;\npid %s;\nevents {}\nhttp {\naccess_log off;\n%s%s}\n", filepath.Join(dir, "pid"), scratch, text)
		}, func(config string) []string { return []string{"-c", config, "-p", filepath.Dir(config)} }},
		{"Caddyfile", "TIEBREAK_CADDY", func(p *proxied, text string) string {
			text = p.swap(text, "\nstudy.example.org {", "\n"+p.origin+" {\n\ttls "+p.cert+" "+filepath.Join(filepath.Dir(p.cert), "key.pem"), "127.0.0.1:8080", p.addr)
			return "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n" + text
		}, func(config string) []string { return []string{"run", "--adapter", "caddyfile", "--config", config} }},
	}
}

// TestProxyExamples: behind each proxy, as its example says, people sign in, answers are acknowledged over sockets, uploads pass and larger ones do not, and limits are for
// each person, whatever address a browser claims to have.
func TestProxyExamples(t *testing.T) {
	t.Parallel()
	for _, e := range examples() {
		t.Run(e.file, func(t *testing.T) {
			t.Parallel()
			program := os.Getenv(e.program)
			if program == "" {
				t.Skip("'go tool task test:proxies' runs it")
			}
			p := startProxied(t, program, e)
			p.signsIn()
			p.labels()
			p.uploads()
			p.limits()
			if strings.Contains(p.server.out.String(), "127.0.0.2") {
				t.Errorf("the log has an address of a person:\n%s", p.server.out)
			}
		})
	}
}

// startProxied starts a server and a proxy before it. The proxy is trusted, and other addresses of this machine, at which the test's people are, are not.
func startProxied(t *testing.T, program string, e example) *proxied {
	t.Helper()
	dir := t.TempDir()
	p := &proxied{t: t, data: t.TempDir(), addr: freeAddr(t), origin: "https://" + freeAddr(t), cert: filepath.Join(dir, "cert.pem")}
	p.trust = certify(t, p.cert, filepath.Join(dir, "key.pem"), 1)
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "deploy", e.file)))(t)
	config := filepath.Join(dir, "proxy.conf")
	must.Do(t, os.WriteFile(config, []byte(e.config(p, string(text))), 0o600))
	p.server = startServer(t, "serve", "--data", p.data, "--addr", p.addr, "--origin", p.origin, "--proxy", "127.0.0.1", "-v")
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, e.args(config)...)
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that nginx ends its workers
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	must.Do(t, cmd.Start())
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	waittest.Until(t, e.file+" to be served", func() bool {
		res, err := p.person("127.0.0.1").Get(p.origin + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return p
}

// person returns a browser at an address of this machine.
func (p *proxied) person(from string) *http.Client {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return &http.Client{Jar: jar, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: p.trust, MinVersion: tls.VersionTLS12},
		DialContext:     (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext,
	}}
}

// signsIn signs a researcher in by the link that the server printed.
func (p *proxied) signsIn() {
	p.t.Helper()
	link, err := url.Parse(p.server.find(p.t, `Researcher:\s+(\S+)`))
	if err != nil || !strings.HasPrefix(link.String(), p.origin+"/signin?token=") {
		p.t.Fatalf("the link is %v, %v", link, err)
	}
	browser := p.person("127.0.0.2")
	res, err := browser.PostForm(p.origin+"/signin", link.Query())
	if err != nil {
		p.t.Fatal(err)
	}
	res.Body.Close()
	if to := res.Request.URL.String(); res.StatusCode != http.StatusOK || !strings.HasPrefix(to, p.origin+"/sessions") {
		p.t.Errorf("sign-in: status %d at %s", res.StatusCode, to)
	}
}

// labels has the program's own annotator give answers over a socket through the proxy, in a process that trusts its certificate.
func (p *proxied) labels() {
	p.t.Helper()
	_, link := newLink(p.t, p.data, p.addr, "--origin", p.origin, "--env", "gridworld")
	if !strings.HasPrefix(link, p.origin) {
		p.t.Fatalf("the link is %s", link)
	}
	cmd := exec.Command(program(p.t), "simulate", "--url", link, "--answers", "5")
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+p.cert)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "5 of 5 answers") {
		p.t.Errorf("simulate: %v\n%s\n%s", err, out, &p.said)
	}
	if list := mustCLI(p.t, "export", "--data", p.data); !strings.Contains(list, "5 answers") {
		p.t.Errorf("the list of sessions says %s", list)
	}
}

// uploads sends 20 MiB, which the server answers (the session is not for uploads), and 34, which are too many.
func (p *proxied) uploads() {
	p.t.Helper()
	id := strings.Fields(mustCLI(p.t, "export", "--data", p.data))[0]
	token := regexp.MustCompile(`tbk_\S+`).FindString(mustCLI(p.t, "token", "new", "--data", p.data, "--scope", "upload", "--session", id))
	for size, want := range map[int]int{20 << 20: http.StatusConflict, 34 << 20: http.StatusRequestEntityTooLarge} {
		body := append(bytes.Repeat([]byte(" "), size), `{"trajectories":[]}`...)
		req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.origin+"/api/v1/sessions/"+id+"/trajectories", bytes.NewReader(body))
		if err != nil {
			p.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		res, err := p.person("127.0.0.2").Do(req)
		if err != nil {
			p.t.Errorf("an upload of %d bytes: %v", size, err)
			continue
		}
		text, _ := io.ReadAll(res.Body) // for the message
		res.Body.Close()
		if res.StatusCode != want {
			p.t.Errorf("an upload of %d bytes: status %d, want %d\n%s", size, res.StatusCode, want, text)
		}
	}
}

// limits asks more often than one address may, under an invented address each time; somebody else is not affected.
func (p *proxied) limits() {
	p.t.Helper()
	flood := p.person("127.0.0.2")
	if p.refused(flood, 300, true) == 0 { // three times as many as there may be at once
		p.t.Error("somebody who asks too often is not refused: the server believes the address in a forged header")
	}
	if n := p.refused(p.person("127.0.0.3"), 60, false); n > 0 {
		p.t.Errorf("%d requests of somebody else are refused: limits are for the proxy, not for each person", n)
	}
}

// refused sends requests, eight at a time, and returns how many were too many.
func (p *proxied) refused(browser *http.Client, requests int, forge bool) int64 {
	p.t.Helper()
	var refused atomic.Int64
	var group sync.WaitGroup
	next := make(chan int)
	for range 8 {
		group.Go(func() {
			for n := range next {
				req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.origin+"/healthz", nil)
				if err != nil {
					p.t.Error(err)
					continue
				}
				if forge {
					req.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", 100+n/250, n%250))
				}
				res, err := browser.Do(req)
				if err != nil {
					p.t.Error(err)
					continue
				}
				res.Body.Close()
				if res.StatusCode == http.StatusTooManyRequests {
					refused.Add(1)
				}
			}
		})
	}
	for n := range requests {
		next <- n
	}
	close(next)
	group.Wait()
	return refused.Load()
}
