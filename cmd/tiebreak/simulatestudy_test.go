package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A rehearsal that skips time says how long the study takes in real time.
func TestSimulateStudy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "study.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("env: gridworld\nkind: state_comparison\nbudget: 10\nanswers_each: 4\nconsent: I agree\n")
	hours := func(flags ...string) float64 {
		t.Helper()
		out := simulateRuns(t, append([]string{"--study", path, "--pace", "400ms", "--runs", "2"}, flags...)...)
		m := regexp.MustCompile(`answers  (\d+) .*\n  hours    ([0-9.e-]+) \(([0-9.e-]+) to ([0-9.e-]+)\)`).FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("no expectation in:\n%s", out)
		}
		if n, err := strconv.Atoi(m[1]); err != nil || n < 10 || !strings.Contains(out, "people ") {
			t.Errorf("%s answers are expected, want at least 10:\n%s", m[1], out)
		}
		h, err := strconv.ParseFloat(m[2], 64)
		if err != nil || !(h > 0) {
			t.Fatalf("hours %q", m[2])
		}
		return h
	}
	expected, real := hours(), hours("--skip-idle=false", "--parallel", "1")
	// A busy machine adds its own time to answers of 0.4 s (those of people take ten times as
	// long), so that the run may take longer; it cannot take less than its answers.
	if ratio := expected / real; ratio < 0.25 || ratio > 1.5 {
		t.Errorf("expected %v hours, and it took %v", expected, real)
	}

	for flags, want := range map[string]string{"--env chain": "--env does not go with --study", "--url http://x/join/y": "--study goes with --runs"} {
		if status, _, stderr := cli(t, append([]string{"simulate", "--study", path}, strings.Fields(flags)...)...); status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s", flags, status, stderr)
		}
	}
	for text, want := range map[string]string{"env: gridworld\n": "has no end", "title: x\nbudget: 0\n": ":2: budget is 0", "budget: 3\nenv: mars\n": ":2: env"} {
		write(text)
		if status, _, stderr := cli(t, "simulate", "--study", path); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %s", text, status, stderr)
		}
	}
}
