package main

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/check/must"
)

// optOutRuns have each opt-out in use, by its Flag: the command lines that warn of it.
func optOutRuns(t *testing.T) map[string][]string {
	data, folder := t.TempDir(), t.TempDir()
	id, _ := newLink(t, data, "127.0.0.1:1")
	open := []string{
		"serve", "--data", t.TempDir(), "--addr", "127.0.0.1:0", "--origin", "http://study.example.org", "--proxy", "10.0.0.0/8", "--metrics", "127.0.0.1:0", "--metrics-anywhere",
		"--network-disk", "--outside-network", "--folder", folder, "--folder-shared",
	}
	out := map[string][]string{
		"--nats-listen without --nats-cert": {"serve", "--data", t.TempDir(), "--addr", "127.0.0.1:0", "--nats-listen", "0.0.0.0:0"},
		"--nats with nats://":               {"serve", "--data", t.TempDir(), "--addr", "127.0.0.1:0", "--nats", "nats://192.0.2.1:4222"},
		"--anyway":                          {"session", "--data", data, "--anyway"},
		"--ids-as-given":                    {"invite", "new", "--data", data, "--session", id, "--crowd", "prolific", "--ids-as-given"},
		"--participants":                    {"export", "--data", data, "--session", id, "--participants"},
	}
	for _, flag := range []string{"an address without HTTPS", "--proxy with a network", "--metrics-anywhere", "--network-disk", "--outside-network", "--folder-shared"} {
		out[flag] = open
	}
	return out
}

// Each opt-out that is in use is warned of at the start, by what it opens.
func TestOptOutsWarn(t *testing.T) {
	t.Parallel()
	runs, said := optOutRuns(t), map[string]string{}
	for _, o := range optOuts() {
		if o.Flag == "--outside without walls" { // depends on the system
			continue
		}
		args := runs[o.Flag]
		if args == nil {
			t.Errorf("no command line has %s in use", o.Flag)
			continue
		}
		line := strings.Join(args, " ")
		if said[line] == "" {
			said[line] = saidAtStart(t, args)
		}
		if !strings.Contains(said[line], "WARNING: "+o.Warning()) {
			t.Errorf("%s does not warn of %s:\n%s", line, o.Flag, said[line])
		}
	}
	uncaged := new(serveFlags).optOuts(site{}, envs.List{{ID: "outside-x", Uncaged: "It can do more."}})
	if len(uncaged) != 1 || uncaged[0].Flag != "--outside without walls" {
		t.Errorf("a program without walls: %+v", uncaged)
	}
	if quiet := saidAtStart(t, []string{"serve", "--data", filepath.Join(t.TempDir(), "new"), "--addr", "127.0.0.1:0"}); strings.Contains(quiet, "WARNING") {
		t.Errorf("without an opt-out the server says:\n%s", quiet)
	}
}

// saidAtStart returns what a command prints: of a server until it runs.
func saidAtStart(t *testing.T, args []string) string {
	t.Helper()
	if args[0] == "serve" {
		p := startServer(t, args...)
		p.kill() // so that all of its standard error is there
		return p.out.String()
	}
	status, _, stderr := cli(t, args...)
	if status != 0 {
		t.Errorf("%v: status %d", args, status)
	}
	return stderr
}

// A worker warns of what its flags open, and one address of a proxy opens nothing.
func TestOptOutsOfWorkers(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	f := &workerFlags{own: own{network: true}}
	f.away.Shared = true
	f.warn(&said)
	if strings.Count(said.String(), "WARNING: --") != 2 {
		t.Errorf("a worker says %s", &said)
	}
	for proxy, want := range map[string]bool{"10.0.0.7/32": false, "10.0.0.0/31": true, "127.0.0.0/8": false, "::1/128": false, "2001:db8::/64": true} {
		if got := wideProxies(site{proxies: []netip.Prefix{netip.MustParsePrefix(proxy)}}); got != want {
			t.Errorf("%s: %t", proxy, got)
		}
	}
	for address, want := range map[string]bool{"": false, "nats://127.0.0.1:4222": false, "tls://a:1": false, "tls://a:1,nats://b:1": true, "ws://a:1": true} {
		if plainNATS(address) != want {
			t.Errorf("%q: %t", address, !want)
		}
	}
}

// docs/security.md has the table of opt-outs as the program has it.
func TestOptOutsAreDocumented(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "security.md")))(t)
	want := "| opt-out | of | what it opens | instead |\n|---|---|---|---|\n"
	for _, o := range optOuts() {
		name := "`" + o.Flag + "`"
		if !strings.HasPrefix(o.Flag, "--") {
			name = o.Flag
		}
		want += fmt.Sprintf("| %s | %s | %s | %s |\n", name, o.of, o.Opens, o.Instead)
	}
	if !strings.Contains(string(text), "\n"+want+"\n") {
		t.Errorf("docs/security.md does not have this table:\n%s", want)
	}
}

// Flags that are on or off and open nothing. Each other one is an opt-out.
var harmless = []string{
	"acme-agree", "all", "answers", "await-training", "csv", "force", "json", "leave-out", "licences", "list", "matched", "new-id", "pair", "redact", "skip-idle", "tasks", "template", "v", "verify", "with-uploads", "yaml", "yes",
}

// A new flag that is on or off is either an opt-out, or said here to open nothing.
func TestSwitchesAreOptOutsOrHarmless(t *testing.T) {
	t.Parallel()
	var known []string
	for _, o := range optOuts() {
		name, _, _ := strings.Cut(strings.TrimPrefix(o.Flag, "--"), " ")
		known = append(known, name)
	}
	settings := []string{}
	for _, c := range commands() {
		if c.Name == "session" {
			fs := flag.NewFlagSet("", flag.ContinueOnError)
			new(sessionFlags).declare(fs)
			fs.VisitAll(func(f *flag.Flag) { settings = append(settings, f.Name) }) // those of a session are no matter of the server's safety
		}
	}
	var walk func(command)
	walk = func(c command) {
		for _, sub := range c.Subs {
			walk(sub)
		}
		if c.Flags == nil {
			return
		}
		fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
		c.Flags(fs)
		fs.VisitAll(func(f *flag.Flag) {
			b, ok := f.Value.(interface{ IsBoolFlag() bool })
			if ok && b.IsBoolFlag() && !slices.Contains(known, f.Name) && !slices.Contains(harmless, f.Name) && !slices.Contains(settings, f.Name) {
				t.Errorf("%s --%s is neither in optOuts nor in harmless", c.Name, f.Name)
			}
		})
	}
	for _, c := range commands() {
		walk(c)
	}
	for _, o := range optOuts() {
		name, _, _ := strings.Cut(strings.TrimPrefix(o.Flag, "--"), " ")
		if strings.HasPrefix(o.Flag, "--") && !flagExists(name) {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

// TestSessionMayStandAlone: where a command takes --session, the id may stand without it, as its usage says. simulate takes a link, a
// number of runs or a study in its place, which only flags tell apart.
func TestSessionMayStandAlone(t *testing.T) {
	t.Parallel()
	seen := 0
	var walk func([]command)
	walk = func(list []command) {
		for _, c := range list {
			walk(c.Subs)
			if c.Flags == nil || c.Name == "simulate" {
				continue
			}
			fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
			if c.Flags(fs); fs.Lookup("session") == nil {
				continue
			}
			if seen++; c.Unflagged != "session" || !strings.Contains(c.Usage, "ID") {
				t.Errorf("%s: the id stands alone: %v; usage %q", c.Name, c.Unflagged == "session", c.Usage)
			}
		}
	}
	if walk(commands()); seen < 20 {
		t.Errorf("%d commands take a session", seen)
	}
	dir := t.TempDir()
	mustCLI(t, "session", "create", "--env", "gridworld", "--data", dir)
	if status, _, stderr := cli(t, "export", "nothing", "--data", dir); status != 1 || !strings.Contains(stderr, `there is no session "nothing"`) {
		t.Errorf("tiebreak export nothing: status %d, %s", status, stderr)
	}
}

// flagExists reports whether a command has a flag.
func flagExists(name string) (is bool) {
	var walk func([]command)
	walk = func(list []command) {
		for _, c := range list {
			walk(c.Subs)
			if c.Flags != nil {
				fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
				c.Flags(fs)
				is = is || fs.Lookup(name) != nil
			}
		}
	}
	walk(commands())
	return is
}
