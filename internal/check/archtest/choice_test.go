package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// choice holds the names of package acquisition with which a query is selected. Only
// the learner may use them, so that sessions and experiments select in the same way
// (docs/design.md, section 2).
var choice = []string{"NewTable", "Select", "Table"}

func TestOnlyTheLearnerSelects(t *testing.T) {
	used := map[string]bool{} // by the learner
	for _, p := range append(list(t, ""), list(t, "mujoco")...) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if path == acquires || !slices.Contains(p.Imports, module+acquires) {
			continue
		}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			file := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution))(t)
			for _, n := range namesOf(file, module+acquires) {
				if n != "*" && !slices.Contains(choice, n) {
					continue
				}
				if path != learns {
					t.Errorf("%s/%s must not use acquisition.%s: only %s selects queries", path, name, n, learns)
				}
				used[n] = true
			}
		}
	}
	for _, n := range choice {
		if !used[n] {
			t.Errorf("%s does not use acquisition.%s: the rule holds nothing", learns, n)
		}
	}
}

// namesOf returns the names of package path that file mentions; "*" if it imports
// them all without a qualifier.
func namesOf(file *ast.File, path string) (names []string) {
	local := path[strings.LastIndex(path, "/")+1:]
	i := slices.IndexFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == strconv.Quote(path) })
	if i < 0 {
		return nil
	}
	if as := file.Imports[i].Name; as != nil {
		local = as.Name
	}
	if local == "." {
		return []string{"*"}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == local {
				names = append(names, s.Sel.Name)
			}
		}
		return true
	})
	return names
}

func TestNamesOf(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         []string
	}{
		{"not imported", `package p; var x = acquisition.Select`, nil},
		{"used", `package p; import "tiebreak/internal/learn/acquisition"; var t acquisition.Table; var s = acquisition.Select`, []string{"Table", "Select"}},
		{"by another name", `package p; import a "tiebreak/internal/learn/acquisition"; var t = a.NewTable(nil); var s = acquisition.Select`, []string{"NewTable"}},
		{"without a name", `package p; import . "tiebreak/internal/learn/acquisition"`, []string{"*"}},
	} {
		file := must.Get(parser.ParseFile(token.NewFileSet(), "p.go", test.source, 0))(t)
		if got := namesOf(file, module+acquires); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
