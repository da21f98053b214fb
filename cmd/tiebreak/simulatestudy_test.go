package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// A rehearsal that skips time says how long the study takes in real time.
func TestSimulateStudy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "study.yaml")
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("env: gridworld\nkind: state_comparison\nbudget: 10\nanswers_each: 4\nconsent: I agree\n")
	hours := func(flags ...string) float64 {
		t.Helper()
		out := simulateRuns(t, append([]string{"--study", path, "--pace", "400ms", "--runs", "2"}, flags...)...)
		m := regexp.MustCompile(`answers +(\d+) .*\n  time +([0-9.]+) seconds \(([0-9.]+) to ([0-9.]+)\)`).FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("no expectation in:\n%s", out)
		}
		if n, err := strconv.Atoi(m[1]); err != nil || n < 10 || !strings.Contains(out, "people ") {
			t.Errorf("%s answers are expected, want at least 10:\n%s", m[1], out)
		}
		h, err := strconv.ParseFloat(m[2], 64)
		if err != nil || !(h > 0) {
			t.Fatalf("seconds %q", m[2])
		}
		if !strings.Contains(out, "(compared every 4 answers") {
			t.Errorf("nothing says how often the truth was looked at:\n%s", out)
		}
		return h
	}
	expected, real := hours(), hours("--skip-idle=false", "--parallel", "1")
	// A busy machine adds its own time to answers of 0.4 s (those of people take ten times as
	// long), so that the run may take longer; it cannot take less than its answers.
	if ratio := expected / real; ratio < 0.25 || ratio > 1.5 {
		t.Errorf("expected %v seconds, and it took %v", expected, real)
	}

	out := simulateRuns(t, "--study", path, "--skip-idle", "--every", "0", "--runs", "1", "--answers", "2")
	if !strings.Contains(out, "not known: compared only at the end") || strings.Contains(out, "answers, median") {
		t.Errorf("compared once, it says:\n%s", out)
	}

	write("env: gridworld\nkind: state_comparison\nbudget: 40\nconditions: [{strategy: uniform, share: 0.4}]\nheld_out: 0.3\n")
	out = simulateRuns(t, "--study", path, "--pace", "0", "--runs", "2")
	table := regexp.MustCompile(`Accuracy on held-out comparisons .* mean of 2 rehearsals .*\n  condition .*\n  lvar +(\d+) +(\d+) +\d+ % \(\d+ to \d+\) +\d\.\d\d.*\n  uniform +(\d+) .*\n  all together .*\n  held out: (\d+) comparisons`)
	m := table.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no table of conditions in:\n%s", out)
	}
	sum := 0
	for _, text := range []string{m[1], m[3], m[4]} {
		n, err := strconv.Atoi(text)
		if err != nil || n == 0 {
			t.Errorf("%q questions", text)
		}
		sum += n
	}
	if sum < 38 || sum > 60 { // 40 answers that say something, and a few that do not
		t.Errorf("%d questions:\n%s", sum, out)
	}

	for flags, want := range map[string]string{"--env chain": "--env cannot be given with --study", "--url http://x/join/y": "--study needs --runs"} {
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
