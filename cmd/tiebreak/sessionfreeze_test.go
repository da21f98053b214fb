package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// A plan that is frozen is the study file, with its hash on record; later changes are named, and another file is none that was frozen.
func TestSessionFreeze(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	id, _ := newLink(t, data, "127.0.0.1:1", "--env", "gridworld", "--title", "Plan", "--budget", "30", "--exclude-gold", "0.6")
	plan := filepath.Join(data, "plan.yaml")
	status, _, said := cli(t, "session", "freeze", id, "--data", data, "-o", plan)
	content, err := os.ReadFile(plan)
	if err != nil || status != 0 {
		t.Fatalf("exit status %d: %s; %v", status, said, err)
	}
	hash := fmt.Sprintf("%x", sha256.Sum256(content))
	if !strings.Contains(said, "after 0 answers. SHA-256: "+hash) || string(content) != mustCLI(t, "session", "show", id, "--data", data, "--yaml") ||
		!strings.Contains(string(content), "exclude_gold: 0.6") {
		t.Errorf("%s\nof\n%s", said, content)
	}
	if status, _, said := cli(t, "session", "freeze", id, "--data", data, "-o", plan); status != 1 || !strings.Contains(said, "exists") {
		t.Errorf("a file that exists: exit status %d, %s", status, said)
	}
	if out := mustCLI(t, "session", "freeze", id, "--data", data, "--verify", plan); !strings.Contains(out, "by command line: SHA-256 "+hash+", after 0 answers") || !strings.Contains(out, "All settings are as in the file.") {
		t.Error(out)
	}
	mustCLI(t, "session", "extend", id, "--data", data, "--by", "10")
	if out := mustCLI(t, "session", "freeze", id, "--data", data, "--verify", plan); !strings.Contains(out, `Changed since: budget was "30", and is "40".`) || strings.Contains(out, "All settings") {
		t.Error(out)
	}
	if out := mustCLI(t, "audit", "list", "--data", data); !strings.Contains(out, "freeze plan") || !strings.Contains(out, hash) {
		t.Error(out)
	}
	must.Do(t, os.WriteFile(plan, append(content, '#'), 0o600))
	if status, _, said := cli(t, "session", "freeze", id, "--data", data, "--verify", plan); status != 1 || !strings.Contains(said, "no plan that was frozen") {
		t.Errorf("another file: exit status %d, %s", status, said)
	}
}
