package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What has no labels of episodes is refused, says what to do, and leaves nothing behind.
func TestExportEpisodesRefused(t *testing.T) {
	t.Parallel()
	s, out := newLabelledFolder(t), filepath.Join(t.TempDir(), "labels")
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"--format", "lerobot", "--out", out}, "Use the format bundle"},
		{[]string{"--format", "lerobot", "--out", out + ".zip"}, "Use the format bundle"},
		{[]string{"--format", "lerobot"}, "--out"},
		{[]string{"--format", "lerobot", "--out", out, "--good-share", "0"}, "above 0"},
		{[]string{"--format", "lerobot", "--out", out, "--all"}, "--all and --participants are for other formats"},
		{[]string{"--format", "lerobot", "--out", out, "--clips", "gif"}, "are for --format bundle"},
		{[]string{"--format", "csv", "--good-share", "0.3"}, "--good-share is for --format lerobot"},
	} {
		status, _, stderr := cli(t, append([]string{"export", "--data", s.dir, "--session", string(s.session)}, test.args...)...)
		if status == 0 || !strings.Contains(stderr, test.says) {
			t.Errorf("%v: status %d, %s", test.args, status, stderr)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind, %v", left, err)
	}
}
