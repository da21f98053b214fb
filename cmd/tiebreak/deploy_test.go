package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// TestDeployConfig: the configuration of the service can be used as it is, and with each of the choices that it has as comments.
func TestDeployConfig(t *testing.T) {
	t.Parallel()
	content := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "deploy", "tiebreak.yaml")))(t)
	text := string(content)
	alone := strings.NewReplacer("\naddr: 127.0.0.1:8080", "", "# addr:", "addr:", "# acme", "acme")
	for name, c := range map[string]struct{ text, want string }{
		"as it is":       {text, "sets 3 of"},
		"behind a proxy": {strings.Replace(text, "# origin:", "origin:", 1), "sets 4 of"},
		"alone":          {alone.Replace(text), "sets 5 of"},
	} {
		if said := mustCLI(t, "config", "check", writeConfig(t, c.text)); !strings.Contains(said, c.want) {
			t.Errorf("%s: %s; want %q", name, said, c.want)
		}
	}
}

// TestPackageScripts: installing the package starts the service, an upgrade restarts it if it runs, and installing it again after a removal
// starts it as at first. The scripts get the arguments of dpkg (https://www.debian.org/doc/debian-policy/ch-maintainerscripts.html), and a
// systemctl that writes down its own.
func TestPackageScripts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"systemctl", "adduser", "install", "su"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+name+" \"$*\"\n"), 0o700)) //nolint:gosec // it is run
	}
	places := strings.NewReplacer("/run/", dir+"/", "/var/lib/tiebreak", dir+"/data")
	must.Do(t, os.MkdirAll(filepath.Join(dir, "systemd", "system"), 0o700))
	run := func(script string, args ...string) string {
		text := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "deploy", "debian", script)))(t)
		cmd := exec.Command("sh", append([]string{"-c", places.Replace(string(text)), script}, args...)...)
		cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", script, args, err, out)
		}
		return string(out)
	}
	for _, step := range []struct {
		name, want string
		scripts    [][]string
	}{
		{"installed", "systemctl enable --now", [][]string{{"preinst", "install"}, {"postinst", "configure", ""}}},
		{"upgraded", "systemctl try-restart", [][]string{{"prerm", "upgrade", "2"}, {"preinst", "upgrade", "1", "2"}, {"postrm", "upgrade", "2"}, {"postinst", "configure", "1"}}},
		{"removed", "systemctl disable --now", [][]string{{"prerm", "remove"}, {"postrm", "remove"}}},
		{"installed again", "systemctl enable --now", [][]string{{"preinst", "install", "2", "2"}, {"postinst", "configure", "2"}}},
		{"upgraded once more", "systemctl try-restart", [][]string{{"prerm", "upgrade", "3"}, {"preinst", "upgrade", "2", "3"}, {"postrm", "upgrade", "3"}, {"postinst", "configure", "2"}}},
	} {
		var said strings.Builder
		for _, s := range step.scripts {
			said.WriteString(run(s[0], s[1:]...))
		}
		if got := said.String(); strings.Count(got, "systemctl ") != strings.Count(got, "daemon-reload")+1 || !strings.Contains(got, step.want) {
			t.Errorf("%s:\n%s\nwant %q", step.name, got, step.want)
		}
	}
}
