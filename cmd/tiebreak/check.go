package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/base/installation"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// tryFor is how long an address may take to answer: as long as people wait for a page.
const tryFor = 10 * time.Second

// checkFlags are the flags of check.
type checkFlags struct {
	set               *flag.FlagSet // all of these
	data, config, url string
	json              bool
}

func (f *checkFlags) declare(fs *flag.FlagSet) {
	f.set = fs
	dataFlag(fs, &f.data)
	fs.StringVar(&f.config, configFlag, os.Getenv("TIEBREAK_CONFIG"), "`file` with flags of 'tiebreak serve', to check in place of those with which the server last ran")
	fs.StringVar(&f.url, "url", "", "`address` that people open, such as https://study.example.org, to try it from here")
	fs.BoolVar(&f.json, "json", false, "write JSON")
}

func checkCommand() command {
	return shared.With(command{
		Name: "check", Summary: "say what is missing before people are invited", Usage: "--data DIR [--config FILE] [--url URL]",
		About: "Checks address, HTTPS, backups, disk, clock, accounts, and flags that open something, and says what to do, as the page\n" +
			"“Before you invite people” does. It checks what the server was last started with, or a file for 'tiebreak serve --config'.\n" +
			"It changes nothing, and the server may be running; it reads the last backup whole. The exit status is 1 if something is missing.",
		Example: "tiebreak check --data tiebreak-data --url https://study.example.org",
	}, (*checkFlags).declare, runCheck)
}

func runCheck(ctx context.Context, std stdio, f *checkFlags) error {
	setup, err := f.setup()
	if err != nil {
		return err
	}
	reach := installation.Reach{}
	if f.url != "" {
		if reach.URL, err = checkOrigin(f.url); err != nil {
			return fmt.Errorf("%w: --url %q is not the address of a site; it looks like https://study.example.org", errUsage, f.url)
		}
		reach = tryAddress(ctx, http.DefaultTransport, reach.URL)
	}
	var list []installation.Finding
	err = reading(ctx, f.data, func(db *store.DB) (err error) {
		if setup == nil {
			if setup, err = lastSetup(ctx, db); err != nil {
				return err
			}
		}
		list, err = (&before{db: db, data: f.data, setup: setup, verify: true}).findings(ctx, reach)
		return err
	})
	if err != nil {
		return err
	}
	if err := writeFindings(std.Out, list, f.json); err != nil {
		return err
	}
	if n := installation.Count(list, installation.Missing); n > 0 {
		return idrl.Errorf(idrl.Conflict, "%d of %d checks say that something is missing", n, len(list))
	}
	return nil
}

// setup returns what the file of --config says of a server, with the data folder that it names unless the command line does; nil
// if there is no file.
func (f *checkFlags) setup() (*installation.Setup, error) {
	if f.config == "" {
		return nil, nil
	}
	fs, s := flag.NewFlagSet("serve", flag.ContinueOnError), new(serveFlags)
	s.declare(fs)
	s.config = f.config
	if _, err := s.checked(); err != nil {
		return nil, err
	}
	if !shared.Given(f.set, "data") {
		f.data = s.data
	}
	bound, err := net.ResolveTCPAddr("tcp", s.addr)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the address %s cannot be found: %v", s.addr, err)
	}
	if bound.IP == nil {
		bound.IP = net.IPv4zero
	}
	at, err := s.site(bound)
	if err != nil {
		return nil, err
	}
	if at.backups.Every > 0 {
		if at.backups, err = at.backups.In(f.data); err != nil {
			return nil, err
		}
	}
	list, err := environments(s.own.at(f.data))
	if err != nil {
		return nil, err
	}
	at.optOuts = s.optOuts(at, list)
	return at.setup(), nil
}

// tryAddress asks the server for a sign of life at an address of it.
func tryAddress(ctx context.Context, by http.RoundTripper, address string) installation.Reach {
	out := installation.Reach{URL: address}
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/healthz", nil)
	if err != nil {
		out.Fault = err.Error()
		return out
	}
	client := http.Client{Transport: by, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	reply, err := client.Do(req)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err
		}
		out.Fault = err.Error()
		return out
	}
	defer reply.Body.Close()
	said, err := io.ReadAll(io.LimitReader(reply.Body, 100))
	switch {
	case reply.StatusCode != http.StatusOK:
		out.Fault = "it answers " + reply.Status
	case err != nil || strings.TrimSpace(string(said)) != "ok":
		out.Fault = "another program answers there"
	}
	if reply.TLS != nil && len(reply.TLS.PeerCertificates) > 0 {
		out.Expires = reply.TLS.PeerCertificates[0].NotAfter
	}
	return out
}

// leafOf returns the first certificate in a file in PEM.
func leafOf(text []byte) (*x509.Certificate, error) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return nil, errors.New("it has no certificate in PEM")
		}
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
}

// writeFindings writes findings, the worst first.
func writeFindings(w io.Writer, list []installation.Finding, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(list)
	}
	for _, state := range installation.States() {
		for _, f := range list {
			if f.State != state {
				continue
			}
			fmt.Fprintf(w, "%-8s %s: %s\n", strings.ToUpper(string(f.State)), f.Name, f.Says)
			if f.Do != "" {
				fmt.Fprintf(w, "         %s\n", f.Do)
			}
			if f.Command != "" {
				fmt.Fprintf(w, "           %s\n", f.Command)
			}
		}
	}
	return nil
}
