package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/base/installation"
)

// A served is a server whose opt-outs are asked for.
type served struct {
	flags *serveFlags
	at    site
	list  envs.List
}

// An optOut is a flag, or another condition, that makes something less safe. Each that is in use is warned of.
type optOut struct {
	installation.OptOut
	of string            // the command
	in func(served) bool // whether a server uses it; nil: of another command, which warns by itself
}

// optOuts are all opt-outs. Warnings, the page "Before you invite people" and the table in docs/security.md are made of them.
func optOuts() []optOut {
	row := func(flag, of string, in func(served) bool, opens, instead string) optOut {
		return optOut{OptOut: installation.OptOut{Flag: flag, Opens: opens, Instead: instead}, of: of, in: in}
	}
	const server, worker = "serve", "serve, worker"
	return []optOut{
		row("an address without HTTPS", server, func(s served) bool { return slices.ContainsFunc(s.at.origins, unencrypted) },
			"Others in the network between a browser and the server can read and change sign-in links, cookies and answers: they could sign in as a researcher.",
			"Put a proxy with HTTPS in front of the server and give its address, --origin https://…, or give a certificate (--tls-cert, --tls-key)."),
		row("--proxy with a network", server, func(s served) bool { return wideProxies(s.at) },
			"Every machine of that network can send requests in the name of any address, and so evade the limits of requests.",
			"Name the single addresses of the proxies."),
		row("--metrics-anywhere", server, func(s served) bool { return s.flags.anywhere && s.flags.metrics != "" },
			"Everybody who reaches --metrics can read metrics and profiles without a password; profiles show what is in memory.",
			"Give --metrics an address of this machine, such as 127.0.0.1:9090."),
		row("--network-disk", server, func(s served) bool { return s.flags.network },
			"The data folder may be on a network disk, where SQLite may lose answers.",
			"Name a folder on a disk of this machine with --data, and keep backups on the network disk (--backup-dir)."),
		row("--outside-network", worker, func(s served) bool { return s.flags.own.network },
			"Programs of outside environments can use the network, and send data to others.",
			"Leave the flag out: on Linux these programs then have no network."),
		row("--outside without walls", server, func(s served) bool {
			return !s.flags.own.network && slices.ContainsFunc(s.list, func(e envs.Entry) bool { return e.Uncaged != "" })
		},
			"Programs of outside environments can do more than this program would let them, as the system lacks walls around them.",
			"Use programs that you trust, or the system that docs/outside.md describes."),
		row("--folder-shared", worker, func(s served) bool { return s.flags.away.carriers.Shared },
			"Everybody in the group of --folder can read jobs, and put false results of trainings there.",
			"Run the server and its workers as one user."),
		row("--nats-listen without --nats-cert", server, func(s served) bool {
			host, _, err := net.SplitHostPort(s.flags.away.listen)
			return err == nil && s.flags.away.cert == "" && !thisMachine(host)
		},
			"Others in the network can read and change jobs and results of trainings.",
			"Give a certificate: --nats-cert and --nats-key."),
		row("--nats with nats://", server, func(s served) bool { return plainNATS(s.flags.away.carriers.NATS) },
			"Jobs and results of trainings are encrypted only if the NATS server asks for it.",
			"Give the address of a NATS server with a certificate, tls://…"),
		row("--anyway", "session", nil,
			"Annotators who join may have no questions, for as long as no place can train the session.",
			"Start a worker that can train it, and make the session without the flag."),
		row("--ids-as-given", "invite new", nil,
			"The database and its backups hold the ids of a crowd platform, by which the platform knows who answered what.",
			"Leave the flag out: a keyed hash of each id is recorded instead."),
		row("--participants", "export", nil,
			"The file holds ids of a crowd platform, which identify people: it must not be published.",
			"Leave the flag out of exports for others."),
	}
}

// optOuts returns the opt-outs that a server uses.
func (f *serveFlags) optOuts(at site, list envs.List) (out []installation.OptOut) {
	for _, o := range optOuts() {
		if o.in != nil && o.in(served{f, at, list}) {
			out = append(out, o.OptOut)
		}
	}
	return out
}

// warnOf warns of a flag of optOuts that a command was given. It panics if there is none.
func warnOf(w io.Writer, flag string) {
	list := optOuts()
	i := slices.IndexFunc(list, func(o optOut) bool { return o.Flag == flag })
	fmt.Fprintf(w, "WARNING: %s\n", list[i].Warning())
}

// warn warns of what a worker opens.
func (f *workerFlags) warn(w io.Writer) {
	if f.own.network {
		warnOf(w, "--outside-network")
	}
	if f.away.Shared {
		warnOf(w, "--folder-shared")
	}
}

// wideProxies reports whether a trusted proxy is a network of more than one other machine.
func wideProxies(at site) bool {
	for _, p := range at.proxies {
		if p.Bits() < p.Addr().BitLen() && !p.Addr().Unmap().IsLoopback() {
			return true
		}
	}
	return false
}

// plainNATS reports whether one of some addresses of NATS, with commas between them, is of another machine and without TLS.
func plainNATS(addresses string) bool {
	for address := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err == nil && (u.Scheme == "nats" || u.Scheme == "ws") && !thisMachine(u.Hostname()) {
			return true
		}
	}
	return false
}
