package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/internal/data/recordings"
)

// TestImportLeRobot: the command says what it is going to read before it does, and what it imported; what is refused leaves
// nothing; a session about it can be made.
func TestImportLeRobot(t *testing.T) {
	t.Parallel()
	folder, data := t.TempDir(), t.TempDir()
	if err := (lerobottest.Dataset{Lengths: []int{8, 9, 10, 12}, Policies: []string{"steady", "steady", "shaky", "shaky"}}).Write(folder); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := cli(t, "import", "--lerobot", folder, "--name", "pen", "--data", data, "--policy-column", "who")
	if left, err := os.ReadDir(filepath.Join(data, recordings.FolderName)); status == 0 || !strings.Contains(stderr, "lerobot-column") || err != nil || len(left) != 0 {
		t.Errorf("status %d, left %v (%v):\n%s", status, left, err, stderr)
	}
	args := []string{"import", "--lerobot", folder, "--name", "pen", "--data", data, "--policy-column", "policy", "--success-column", "next.success", "--cameras", "side, front", "--clip-seconds", "0.5", "--title", "Pens on paper"}
	status, stdout, stderr := cli(t, args...)
	for _, part := range []string{"LeRobot v3.0: 4 episodes, 39 frames at 10 a second (4s), robot: pen", "Cameras: side, front; 2 videos", "This takes ", "keeping episode 4 of 4"} {
		if !strings.Contains(stderr, part) {
			t.Errorf("%q is not in:\n%s", part, stderr)
		}
	}
	for _, part := range []string{"Rollouts:    4\n", "Successes:   2 of 4\n", "Policies:    2\n", "             or ", "arena new ", " --entrants rollouts-pen\n", "rollouts-pen", "not copied"} {
		if status != 0 || !strings.Contains(stdout, part) {
			t.Errorf("status %d, %q is not in:\n%s%s", status, part, stdout, stderr)
		}
	}
	if status, _, stderr := cli(t, args...); status == 0 || !strings.Contains(stderr, "rollouts-taken") {
		t.Errorf("a second one of the name: %d\n%s", status, stderr)
	}
	if status, stdout, stderr := cli(t, "arena", "new", "--data", data, "--entrants", "rollouts-pen"); status != 0 || !strings.HasPrefix(stdout, "Arena:") {
		t.Errorf("an arena in a data folder that has no database yet: status %d, %s%s", status, stdout, stderr)
	}
	if status, _, stderr := cli(t, "session", "create", "--data", data, "--env", "rollouts-pen"); status != 0 {
		t.Error(stderr)
	}
	if set, err := recordings.Open(filepath.Join(data, recordings.FolderName, "pen")); err != nil || set.Title() != "Pens on paper" {
		t.Errorf("the environment has another title: %v", err)
	}
	for _, args := range [][]string{
		{"import", "--lerobot", folder, "--data", data},
		{"import", "--lerobot", folder, "--name", "a", "--rollouts", folder, "--data", data},
		{"import", "--rollouts", folder, "--name", "a", "--policy-column", "p", "--data", data},
		{"import", "--rollouts", folder, "--name", "a", "--title", "A", "--data", data},
	} {
		if status, _, stderr := cli(t, args...); status != 2 {
			t.Errorf("%v: status %d\n%s", args, status, stderr)
		}
	}
}
