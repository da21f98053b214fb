package main

import (
	"regexp"
	"runtime"
	"strings"
	"testing"

	"tiebreak/envs/mujoco"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	status, text, stderr := cli(t, "version")
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, said %q", status, stderr)
	}
	mu := `MuJoCo\s+not available: .+`
	if mujoco.Unavailable() == nil {
		mu = `MuJoCo\s+\d+\.\d+\.\d+ \(/.*libmujoco.*\)`
	}
	for _, line := range []string{
		`tiebreak\s+\S+`, `Go\s+` + regexp.QuoteMeta(runtime.Version()), `Platform\s+` + runtime.GOOS + "/" + runtime.GOARCH,
		mu, `SQLite\s+3\.\d+\.\d+`, `Database\s+format [1-9]\d*`,
	} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(text) {
			t.Errorf("no line %q in:\n%s", line, text)
		}
	}
	for _, flag := range []string{"--version", "-version"} {
		if status, same, _ := cli(t, flag); status != 0 || same != text {
			t.Errorf("tiebreak %s: status %d, says\n%s\nwant what tiebreak version says", flag, status, same)
		}
	}
	if status, text, _ := cli(t, "version", "--licences"); status != 0 || !strings.Contains(text, "github.com/labstack/echo/v4 ") || !strings.Contains(text, "THE SOFTWARE IS PROVIDED") {
		t.Errorf("the licences: status %d, %d bytes", status, len(text))
	}
	if status, _, stderr := cli(t, "version", "now"); status != 2 || !strings.Contains(stderr, `"now"`) {
		t.Errorf("an argument left over: status %d, said %q", status, stderr)
	}
}
