package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/idrl"
)

// certificateLook is how often a server looks whether its certificate was renewed.
const certificateLook = time.Second

// A certificate is that of a server, from files that something renews.
type certificate struct {
	cert, key string // files in PEM
	log       *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate // guarded by mu
	from   [2]time.Time     // guarded by mu: when the files were written that loaded is from
	looked time.Time        // guarded by mu
}

// checkTLS checks the flags for HTTPS. A certificate is for a name, which people open.
func (f *serveFlags) checkTLS() error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return fmt.Errorf("%w: --tls-cert and --tls-key belong together", errUsage)
	case f.cert != "" && !strings.HasPrefix(f.origin, "https://"):
		return fmt.Errorf("%w: with --tls-cert, give the address that people open as --origin, such as https://study.example.org", errUsage)
	}
	return f.acme.check(f.cert, f.origin)
}

// encrypted returns a listener for HTTPS with the certificate that the flags name, or with those that the server gets by itself, which it also
// returns, or ln if they ask for none.
func (f *serveFlags) encrypted(ctx context.Context, ln net.Listener, base string, log *slog.Logger) (net.Listener, *certificates, error) {
	certs, err := f.acme.open(ctx, f.data, base, log)
	switch {
	case err != nil:
		return nil, nil, err
	case certs != nil:
		return certs.encrypted(ln), certs, nil
	case f.cert == "":
		return ln, nil, nil
	}
	c := &certificate{cert: f.cert, key: f.key, log: log}
	if err := c.load(); err != nil {
		return nil, nil, err
	}
	return tls.NewListener(ln, &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.get}), nil, nil // sockets need HTTP 1.1
}

// load reads the files, unless they are as they were. It returns an error of kind Invalid if they are no certificate and its key.
func (c *certificate) load() error {
	var written [2]time.Time
	for i, file := range []string{c.cert, c.key} {
		info, err := os.Stat(file)
		if err != nil {
			return idrl.Errorf(idrl.Invalid, "the certificate cannot be read (%v)", err)
		}
		written[i] = info.ModTime()
	}
	if c.loaded != nil && written == c.from {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "%s and %s are not a certificate and its key in PEM (%v)", c.cert, c.key, err)
	}
	c.loaded, c.from = &pair, written
	return nil
}

// get returns the certificate as it is now. One that cannot be read, such as a half-written one, leaves the one before in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= certificateLook {
		c.looked = now
		if err := c.load(); err != nil {
			c.log.Error("the certificate was not renewed", "err", err)
		}
	}
	return c.loaded, nil
}
