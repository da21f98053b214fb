package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// fetchers are the files that ask for addresses over HTTP: commands and programs for tests, each for an address on its command line, and
// the server for certificates, of the authority that --acme-directory names, and for notices, of the web hook that --notify-url names.
var fetchers = []string{"cmd/tiebreak/acme.go", "cmd/tiebreak/notices.go", "web/client/client.go", "cmd/tiebreak/check.go", "internal/lab/loadtest/measure.go"}

// fetching are the names of package net/http that ask for addresses.
var fetching = []string{"Client", "DefaultClient", "DefaultTransport", "Transport", "Get", "Head", "Post", "PostForm", "NewRequest", "NewRequestWithContext"}

// TestServerFetchesNothing: no part of a server asks for an address, so that nobody can have it ask for one of its own network.
func TestServerFetchesNothing(t *testing.T) {
	var found []string
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(fetching, s.Sel.Name) {
				return true
			}
			path := f.folder + "/" + f.name
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "http" && !slices.Contains(found, path) {
				found = append(found, path)
			}
			return true
		})
	}
	slices.Sort(found)
	want := slices.Sorted(slices.Values(fetchers))
	if !slices.Equal(found, want) {
		t.Errorf("these files ask for addresses: %q; only these may: %q", found, want)
	}
}
