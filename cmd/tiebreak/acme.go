package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// acmeFlags are the flags for certificates that the server gets by itself, by ACME (RFC 8555).
type acmeFlags struct {
	domains   string
	agree     bool
	email     string
	directory string
	ca        string
	plain     string
}

func (f *acmeFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.domains, "acme-domain", "", "`names` of the site, with commas between them, for which the server gets certificates from an authority by ACME, such as Let's Encrypt,\n"+
		"and renews them. It needs --addr :443, which the authority must reach; --origin is https://NAME of the first name unless it is given")
	fs.BoolVar(&f.agree, "acme-agree", false, "you agree to the terms of service of the authority")
	fs.StringVar(&f.email, "acme-email", "", "`address` at which the authority can reach you; may be empty")
	fs.StringVar(&f.directory, "acme-directory", autocert.DefaultACMEDirectory, "`address` of the authority's directory")
	fs.StringVar(&f.ca, "acme-ca", "", "`file` in PEM with certificates of those who vouch for the authority's own address, for an authority in your organization;\nempty: those that the system trusts")
	fs.StringVar(&f.plain, "acme-http", ":80", "`host:port` at which the server proves to the authority that the names are its own, and sends browsers that come without encryption to\n--origin; empty: the authority must reach --addr, and nothing listens without encryption")
}

// names returns the names of the site in lower case; nil without ACME.
func (f *acmeFlags) names() (out []string) {
	for name := range strings.SplitSeq(f.domains, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// siteName matches a name for which an authority gives certificates: no address, no wildcard, letters of ASCII.
var siteName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$`)

// check checks the flags beside those for a certificate from files and --origin.
func (f *acmeFlags) check(cert, origin string) error {
	names := f.names()
	if len(names) == 0 {
		if f.agree || f.email != "" || f.ca != "" {
			return fmt.Errorf("%w: --acme-agree, --acme-email and --acme-ca are without effect: name the site with --acme-domain", errUsage)
		}
		return nil
	}
	for _, name := range names {
		if !siteName.MatchString(name) {
			return fmt.Errorf("%w: --acme-domain %q is no name of a site, such as study.example.org; names in other letters are written as xn--…, and there are no certificates for addresses or *", errUsage, name)
		}
	}
	directory, err := url.Parse(f.directory)
	switch {
	case cert != "":
		return fmt.Errorf("%w: --acme-domain and --tls-cert exclude each other", errUsage)
	case err != nil || directory.Scheme != "https" || directory.Host == "":
		return fmt.Errorf("%w: --acme-directory must be an address that begins with https://; got %q", errUsage, f.directory)
	case !f.agree:
		return fmt.Errorf("%w: read the terms of service of the authority at %s, and say with --acme-agree that you agree", errUsage, f.directory)
	}
	at, err := url.Parse(f.origin(origin))
	if err != nil || at.Scheme != "https" || !slices.Contains(names, at.Hostname()) {
		return fmt.Errorf("%w: --origin must be https:// and one of the names of --acme-domain; got %q", errUsage, origin)
	}
	return nil
}

// origin returns the flag --origin, which is the first name of the site if it is empty.
func (f *acmeFlags) origin(given string) string {
	if names := f.names(); given == "" && len(names) > 0 {
		return "https://" + names[0]
	}
	return given
}

// origins returns the origins of the site with those of its other names, at the same port.
func (f *acmeFlags) origins(of []string) []string {
	if len(of) == 0 {
		return of
	}
	at, err := url.Parse(of[0])
	for _, name := range f.names() {
		if err != nil || name == at.Hostname() {
			continue
		}
		other := "https://" + name
		if at.Port() != "" {
			other += ":" + at.Port()
		}
		of = append(of, other)
	}
	return of
}

// Times of certificates.
const (
	acmeRetry = 15 * time.Minute // after a failure: Let's Encrypt allows five an hour for each name
	acmeLook  = time.Hour        // between two looks whether a certificate was renewed
)

// certificates are those that a server gets by ACME. A nil one is of a server without.
type certificates struct {
	names   []string
	base    string // where browsers are sent that come without encryption
	manager *autocert.Manager
	plain   net.Listener // without encryption; nil for none
	log     *slog.Logger
}

// open listens without encryption if that is asked for, and gets nothing from the authority yet. It returns nil without ACME.
func (f *acmeFlags) open(ctx context.Context, data, base string, log *slog.Logger) (*certificates, error) {
	names := f.names()
	if len(names) == 0 {
		return nil, nil
	}
	client, err := f.client()
	if err != nil {
		return nil, err
	}
	c := &certificates{names: names, base: base, log: log, manager: &autocert.Manager{
		Prompt: func(string) bool { return f.agree }, Cache: autocert.DirCache(filepath.Join(data, store.CertificateFolder)),
		HostPolicy: autocert.HostWhitelist(names...), Client: client, Email: f.email,
	}}
	if f.plain == "" {
		return c, nil
	}
	var lc net.ListenConfig
	if c.plain, err = lc.Listen(ctx, "tcp", f.plain); err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "cannot listen on %s: %v; give another --acme-http to which port 80 leads, or an empty one", f.plain, err)
	}
	return c, nil
}

// client returns what speaks with the authority.
func (f *acmeFlags) client() (*acme.Client, error) {
	out := &acme.Client{DirectoryURL: f.directory, UserAgent: "tiebreak"}
	if f.ca == "" {
		return out, nil
	}
	text, err := os.ReadFile(f.ca)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "--acme-ca cannot be read (%v)", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, idrl.Errorf(idrl.Invalid, "--acme-ca %s has no certificate in PEM", f.ca)
	}
	out.HTTPClient = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}
	return out, nil
}

// encrypted returns a listener for HTTPS on ln, which also proves to the authority that the names are the server's (RFC 8737).
func (c *certificates) encrypted(ln net.Listener) net.Listener {
	return tls.NewListener(ln, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1", acme.ALPNProto}, GetCertificate: c.manager.GetCertificate, // sockets need HTTP 1.1
	})
}

// close frees what open has opened, if run has not.
func (c *certificates) close() {
	if c != nil && c.plain != nil {
		_ = c.plain.Close() // run may have closed it
	}
}

// run answers requests without encryption, and gets certificates, until ctx is done. Call it when the server's own listener is served.
func (c *certificates) run(ctx context.Context) {
	if c == nil {
		return
	}
	handler := c.unencrypted()
	var running sync.WaitGroup
	defer running.Wait()
	for _, name := range c.names {
		running.Go(func() { c.keep(ctx, name) })
	}
	if c.plain == nil {
		return
	}
	srv := &http.Server{
		Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(c.log.Handler(), slog.LevelDebug),
	}
	running.Go(func() {
		<-ctx.Done()
		_ = srv.Close() // a redirection that is cut off is asked for again
	})
	if err := srv.Serve(c.plain); !errors.Is(err, http.ErrServerClosed) {
		c.log.Error("requests without encryption are not answered", "err", err)
	}
}

// unencrypted returns what answers without encryption: proofs for the authority (RFC 8555, section 8.3), and where the site is; nil for nothing.
func (c *certificates) unencrypted() http.Handler {
	if c.plain == nil {
		return nil
	}
	known := c.manager.HTTPHandler(http.HandlerFunc(c.toHTTPS)) // from now on the manager also tries this way
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower(r.Host)
		if name, _, err := net.SplitHostPort(host); err == nil { // the manager wants the name alone
			host = name
		}
		if !slices.Contains(c.names, host) {
			http.Error(w, "This server has no site of that name.", http.StatusMisdirectedRequest)
			return
		}
		r.Host = host
		known.ServeHTTP(w, r)
	})
}

// toHTTPS sends a browser to the site.
func (c *certificates) toHTTPS(w http.ResponseWriter, r *http.Request) {
	to, err := url.Parse(c.base)
	if err != nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "Use HTTPS.", http.StatusBadRequest)
		return
	}
	to.Path, to.RawPath, to.RawQuery = r.URL.Path, r.URL.RawPath, r.URL.RawQuery
	http.Redirect(w, r, to.String(), http.StatusMovedPermanently)
}

// keep gets the certificate for a name, before a browser asks for it, and logs each new one, and one that is not renewed in time. The manager
// renews it when a third of its life is left or 30 days, and reports no failure of that.
func (c *certificates) keep(ctx context.Context, name string) {
	var last time.Time // until which the last one is valid
	for {
		wait := acmeLook
		cert, err := c.get(ctx, name)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			wait = acmeRetry
			c.log.Error("there is no certificate; it will be tried again", "domain", name, "in", wait, "err", err)
		case !cert.NotAfter.Equal(last):
			last = cert.NotAfter
			c.log.Info("there is a certificate", "domain", name, "until", last)
		case late(cert, time.Now()):
			c.log.Error("the certificate was not renewed; the authority must reach this server", "domain", name, "until", last)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// late reports whether a certificate should have been renewed at now: less than a quarter of its life is left.
func late(cert *x509.Certificate, now time.Time) bool {
	return cert.NotAfter.Sub(now) < cert.NotAfter.Sub(cert.NotBefore)/4
}

// get returns the certificate for a name. The manager takes no context: when ctx is done get does not wait for what is left of five minutes.
func (c *certificates) get(ctx context.Context, name string) (*x509.Certificate, error) {
	type result struct {
		cert *x509.Certificate
		err  error
	}
	got := make(chan result, 1)
	go func() {
		cert, err := c.manager.GetCertificate(&tls.ClientHelloInfo{ServerName: name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}})
		if err != nil {
			got <- result{err: err}
			return
		}
		got <- result{cert: cert.Leaf}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-got:
		return r.cert, r.err
	}
}
