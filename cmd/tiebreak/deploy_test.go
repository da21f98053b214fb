package main

import (
	"os"
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
