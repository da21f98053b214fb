package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// The counts of a small session are printed, and kept.
func TestBenchQuestions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"bench", "questions", "--env", "gridworld", "--answers", "3", "--pace", "10ms", "--out", dir}
	first := mustCLI(t, args...)
	if !strings.Contains(first, "| gridworld | clip comparison | 3 | ") || !strings.Contains(first, "| all | clip comparison | 3 |") {
		t.Errorf("it prints\n%s", first)
	}
	page := filepath.Join(dir, "gridworld-clip_comparison-answerable-1", "index.html")
	before := must.Get(os.Stat(page))(t)
	if again := mustCLI(t, args...); again != first {
		t.Errorf("the second time it prints\n%s", again)
	}
	if after, err := os.Stat(page); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("what is kept was made again, %v", err)
	}
	if status, _, errs := cli(t, "bench", "questions", "--env", "mars"); status != 2 || !strings.Contains(errs, "mars") {
		t.Errorf("an unknown environment: status %d, %s", status, errs)
	}
}
