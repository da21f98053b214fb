package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// TestArenaOfUploadsToTheEnd: an arena of policies that acted in uploaded trajectories is rehearsed, and gets nothing of that; it ends by its test for a winner, the better
// policy, while questions are left. Its report says so, and so does its bundle where that is imported. Its answers are labels of episodes.
func TestArenaOfUploadsToTheEnd(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	mustCLI(t, "session", "create", "--data", data, "--env", "gridworld", "--title", "Other")
	startServer(t, "serve", "--data", data, "--addr", addr)
	u := newUploader(t, data, "http://"+addr)
	u.upload(10, "slow", "fast")
	id, link := newArenaLink(t, data, "--entrants", u.session, "--seed", "3", "--detect", "0.9")

	out := simulateRuns(t, "--session", id, "--data", data, "--runs", "2", "--expert", "perfect")
	if n := saidOf(t, out, "answers"); n < 6 || n > 10 || !strings.Contains(out, "in 2 of 2 rehearsals a winner is found") {
		t.Errorf("the rehearsal says:\n%s", out)
	}
	if r := arenaReport(t, data, id); r.Answers != 0 || len(r.People) != 0 {
		t.Errorf("after its rehearsal the arena has %d answers of %d people", r.Answers, len(r.People))
	}

	out = mustCLI(t, "simulate", "--url", link, "--data", data, "--expert", "perfect", "--seed", "7", "--answers", "40")
	r := arenaReport(t, data, id)
	const winner = "“fast” is the winner"
	if r.Answers < 6 || r.Answers > 10 || r.Asked <= r.Answers || !strings.Contains(r.Headline(), winner) || !strings.Contains(out, "1 of 1 pairs are in the order of the true reward.") {
		t.Errorf("%d answers of %d questions: %s\n%s", r.Answers, r.Asked, r.Headline(), out)
	}

	dir, elsewhere := t.TempDir(), t.TempDir()
	read := func(name string) string { return string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t)) } // #nosec G304 -- of the test
	mustCLI(t, "report", "--session", id, "--data", data, "-o", filepath.Join(dir, "report.html"))
	for _, want := range []string{winner, "slow", "push the dot", "pull the dot"} {
		if !strings.Contains(read("report.html"), want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	mustCLI(t, "export", "--data", data, "--session", id, "--format", "bundle", "--out", filepath.Join(dir, "bundle.zip"))
	mustCLI(t, "import", "--data", elsewhere, filepath.Join(dir, "bundle.zip"))
	if got := arenaReport(t, elsewhere, id); got.Headline() != r.Headline() || got.Answers != r.Answers || len(got.Tasks) != 2 {
		t.Errorf("where the bundle is imported there are %d answers: %s", got.Answers, got.Headline())
	}
	mustCLI(t, "export", "--data", data, "--session", id, "--format", "lerobot", "--out", filepath.Join(dir, "labels"))
	if preferred := read("labels/preferences.jsonl"); strings.Count(preferred, "\n") != r.Answers {
		t.Errorf("%d answers are labels as\n%s", r.Answers, preferred)
	}
}
