package main

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/base/installation"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// A site is the address of the server for browsers.
type site struct {
	base    string         // begins every link: "https://study.example.org"
	origins []string       // pages from these origins are served, besides those of this machine
	open    bool           // listens beyond this machine
	proxies []netip.Prefix // in front of the server
	away    workplaceFlags // where its jobs are done besides this machine
	rest    time.Duration  // without use, after which a session is removed from memory; 0: never
	backups store.Schedule
	notify  string                // address to which notices are posted; empty: none
	quiet   time.Duration         // without an answer, after which a notice says so; 0: never
	cert    string                // file of its certificate; empty if it has none of its own
	optOuts []installation.OptOut // in use

	recordings recordings.Folders // that requests may read

	rehearses bool // people may join sessions that are rehearsals: they are simulated
}

// siteOf returns the site of a server that listens on bound, for the flag addr. origin is the
// public address, empty if none was given: then it is the address on which it listens, if that is a
// single one, or this machine.
func siteOf(addr string, bound net.Addr, origin string) (site, error) {
	at, err := netip.ParseAddrPort(bound.String())
	if err != nil {
		return site{}, fmt.Errorf("listens on %s, which is not an address: %w", bound, err)
	}
	s := site{base: "http://" + at.String(), open: !at.Addr().IsLoopback()}
	switch {
	case origin != "":
		if s.base, err = checkOrigin(origin); err != nil {
			return site{}, err
		}
		s.origins = []string{s.base}
	case at.Addr().IsUnspecified():
		s.base = fmt.Sprintf("http://127.0.0.1:%d", at.Port())
	case s.open:
		s.origins = []string{s.base}
		if host, _, err := net.SplitHostPort(addr); err == nil && net.ParseIP(host) == nil { // a name: people use it
			s.base = fmt.Sprintf("http://%s:%d", host, at.Port())
			s.origins = append(s.origins, s.base)
		}
	}
	return s, nil
}

// baseOf returns the beginning of links to a server that will listen on addr.
func baseOf(addr, origin string) (string, error) {
	if origin != "" {
		return checkOrigin(origin)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", idrl.Errorf(idrl.Invalid, "--addr %q is not an address; it looks like %s", addr, defaultAddr)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port), nil
}

// behind returns the flag --origin of a server behind a proxy; empty for one that serves HTTPS itself.
func (f *serveFlags) behind() string {
	if f.acme.domains != "" || f.cert != "" {
		return ""
	}
	return f.origin
}

// checkProxies reads a list of addresses and networks with commas between them. If it
// is empty and the site has an origin of its own, a proxy on this machine is trusted.
func checkProxies(list, origin string) (out []netip.Prefix, err error) {
	if list == "" && origin != "" {
		list = "127.0.0.0/8,::1"
	}
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		p, err := netip.ParsePrefix(item)
		if a, single := netip.ParseAddr(item); single == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, idrl.Errorf(idrl.Invalid, "--proxy %q is neither an address nor a network; it looks like 10.0.0.7 or 10.0.0.0/24", item)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// checkOrigin returns an origin in the form that browsers use: "https://study.example.org".
func checkOrigin(origin string) (string, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" {
		return "", idrl.Errorf(idrl.Invalid, "--origin %q is not the address of a site; it looks like https://study.example.org", origin)
	}
	host, port := strings.ToLower(u.Host), map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(host, port), nil
}

// secure reports whether the site is reached over HTTPS only.
func (s site) secure() bool {
	plain := func(o string) bool { return !strings.HasPrefix(o, "https://") }
	return len(s.origins) > 0 && !slices.ContainsFunc(s.origins, plain)
}

// unknown says that the server does not know its address, and what to do; empty if it does.
func (s site) unknown() string {
	if !s.open || len(s.origins) > 0 {
		return ""
	}
	return "the server listens on every address of this machine but does not know which address people open.\n" +
		"Only browsers on this machine can use it; others get a page that says so. Give the address with --origin:\n" +
		"https://study.example.org if there is a proxy with HTTPS in front of it, or http://NAME:PORT in a network that you trust."
}

// unencrypted reports whether an origin is reached over a network without encryption.
func unencrypted(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "https" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}

// warn prints the risks of the site and the data folder, and the opt-outs that are in use.
func warn(w io.Writer, s site, data string) {
	if text := s.unknown(); text != "" {
		fmt.Fprintf(w, "WARNING: %s\n\n", text)
	}
	for _, o := range s.optOuts {
		fmt.Fprintf(w, "WARNING: %s\n\n", o.Warning())
	}
	for _, path := range store.Exposed(data) {
		fmt.Fprintf(w, "WARNING: other users of this machine can read %s. To prevent this, run: chmod go-rwx %s\n\n", path, path)
	}
}
