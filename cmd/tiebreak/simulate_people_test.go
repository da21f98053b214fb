package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// A study can be tried out on its server from the consent text to the completion code, by the
// link of a session and by that of a crowd platform, as often as wanted.
func TestSimulateAParticipant(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	consent := consentFile(t)
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "state_comparison", "--consent-file", consent, "--answers-each", "4", "--completion-code", "C0DE", "--budget", "40")
	crowd := regexp.MustCompile(`Annotator: +(\S+)`).FindStringSubmatch(mustCLI(t, "invite", "new", "--data", data, "--addr", addr, "--session", id,
		"--crowd", "prolific", "--uses", "5", "--return", "https://example.org/complete?cc={code}"))[1]
	startServer(t, "serve", "--data", data, "--addr", addr)
	run := func(args ...string) string {
		t.Helper()
		return simulateRuns(t, args...) // a process of its own, as two people are two
	}
	for _, flags := range [][]string{{"--answers", "10"}, {"--answers", "4"}} {
		out := run(append([]string{"--url", crowd}, flags...)...)
		for _, want := range []string{"Agreed to version 1 of the consent text", "4 answers given", "Completion code: C0DE", "leads to https://example.org/complete?cc=C0DE"} {
			if !strings.Contains(out, want) {
				t.Errorf("%v: it lacks %q:\n%s", flags, want, out)
			}
		}
	}
	if out := run("--url", crowd, "--answers", "1"); !strings.Contains(out, "no completion code is shown yet") {
		t.Errorf("after one of four answers:\n%s", out)
	}
	for range 2 {
		if out := run("--url", link, "--answers", "10"); !strings.Contains(out, "Agreed to version 1") || !strings.Contains(out, "Completion code: C0DE") {
			t.Errorf("by the link of the session:\n%s", out)
		}
	}
	names := regexp.MustCompile(`Simulated \S+ [0-9.]+`).FindAllString(mustCLI(t, "annotator", "list", "--data", data), -1)
	if len(names) != 2 || names[0] == names[1] {
		t.Errorf("the simulated annotators are called %q", names)
	}
}

// consentFile returns the name of a file with a consent text.
func consentFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "consent.md")
	must.Do(t, os.WriteFile(name, []byte("I agree."), 0o600))
	return name
}
