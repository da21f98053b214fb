package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

const (
	module   = "tiebreak/"
	vocab    = "internal/idrl" // every package may import it
	acquires = "internal/learn/acquisition"
	learns   = "internal/learn/learning"
	truth    = "internal/lab/sim" // of true rewards
)

// rule lists what the packages at or below pkg may import: packages of this module, and of the rest
// third-party modules, database/sql and cgo.
type rule struct {
	pkg   string
	local []string
	third []string
}

// row finds the rows of the tables in docs/design.md, section 2.
var row = regexp.MustCompile("(?m)^\\| `([\\w/-]+)` \\| [^|]+ \\| ([^|]+) \\|(?: ([^|]+) \\|)?$")

// tables returns what docs/design.md allows: the uses of each room, and the imports of each package.
func tables(t *testing.T) (rooms map[string][]string, rules []rule) {
	t.Helper()
	doc := must.Get(os.ReadFile("../../../docs/design.md"))(t)
	_, section, _ := strings.Cut(string(doc), "\n## 2. Rooms\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rooms = map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		if m[3] == "" {
			rooms[m[1]] = entries(m[2])
			continue
		}
		r := rule{m[1], entries(m[2]), entries(m[3])}
		for i, p := range r.local {
			if p == everything {
				continue
			}
			if top := strings.Split(p, "/")[0]; rooms[top] == nil { // a room below internal, not one at the top
				r.local[i] = "internal/" + p
			}
		}
		rules = append(rules, r)
	}
	if len(rooms) < 15 || len(rules) < 60 {
		t.Fatalf("docs/design.md, section 2 has %d rooms and %d packages: are its tables read?", len(rooms), len(rules))
	}
	return rooms, rules
}

// entries returns the entries of a cell; none for a dash.
func entries(cell string) []string {
	if cell == "–" {
		return []string{}
	}
	return strings.Split(cell, ", ")
}

// ruleOf returns the index of the rule that holds for a package: that of the longest path; -1 if there is none.
func ruleOf(rules []rule, path string) int {
	best := -1
	for i, r := range rules {
		if under(path, r.pkg) && (best < 0 || len(r.pkg) > len(rules[best].pkg)) {
			best = i
		}
	}
	return best
}

// TestImports: packages import what the table of packages lists, and the table lists nothing else.
func TestImports(t *testing.T) {
	rooms, rules := tables(t)
	used := map[string]bool{} // rows, and their entries
	for _, p := range append(list(t, ""), list(t, "mujoco")...) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains(p.Imports, module+truth) && !under(path, "internal/lab") && !under(path, "cmd") {
			t.Errorf("%s must not import %s: true rewards are for benchmarks, simulated annotators and tests", path, truth)
		}
		i := ruleOf(rules, path)
		if i < 0 {
			if rooms[path] == nil || len(p.Imports) > 0 { // a room's doc.go
				t.Errorf("docs/design.md, section 2 has no row for %s", path)
			}
			continue
		}
		used[rules[i].pkg] = true
		for _, imp := range p.Imports {
			entry, ok := rules[i].allows(rules, imp)
			if !ok {
				t.Errorf("%s must not import %s", path, imp)
			}
			used[rules[i].pkg+" "+entry] = true
		}
	}
	for _, r := range rules {
		if !used[r.pkg] {
			t.Errorf("the table has a row for %s, which does not exist", r.pkg)
		}
		for _, e := range slices.Concat(r.local, r.third) {
			if e != everything && !used[r.pkg+" "+e] {
				t.Errorf("the row of %s lists %s, which is not imported", r.pkg, e)
			}
		}
	}
}

const everything = "everything" // in a cell of the table

// allows reports whether a package under r may import imp, and by which entry of its row. The
// standard library is free, but for the global random generator, SQL and cgo.
func (r rule) allows(rules []rule, imp string) (string, bool) {
	if local, ok := strings.CutPrefix(imp, module); ok {
		i := ruleOf(rules, local)
		if i < 0 {
			return "", false
		}
		to := rules[i].pkg
		return to, to == r.pkg || to == vocab || slices.Contains(r.local, to) || slices.Contains(r.local, everything)
	}
	if !strings.Contains(strings.Split(imp, "/")[0], ".") && imp != "database/sql" && imp != "C" {
		return "", imp != "math/rand"
	}
	i := slices.IndexFunc(r.third, func(p string) bool { return under(imp, p) || p == everything })
	if i < 0 {
		return "", false
	}
	return r.third[i], true
}

func TestAllows(t *testing.T) {
	rules := []rule{{pkg: vocab}, {pkg: "envs"}, {pkg: truth}}
	for _, test := range []struct {
		rule rule
		imp  string
		want bool
	}{
		{rule{pkg: "envs"}, module + vocab, true},
		{rule{pkg: "envs"}, module + "envs/driver", true},
		{rule{pkg: "envs"}, module + truth, false},
		{rule{pkg: "internal/lab/experiment", local: []string{truth}}, module + truth, true},
		{rule{pkg: "envs", local: []string{everything}}, module + "unknown", false},
		{rule{pkg: "envs", third: []string{"gonum.org/v1/gonum"}}, "gonum.org/v1/gonum/mat", true},
		{rule{pkg: "envs", third: []string{"gonum.org/v1/gonum"}}, "gonum.org/v1/plot", false},
		{rule{pkg: "envs"}, "math/rand", false},
		{rule{pkg: "envs"}, "math/rand/v2", true},
		{rule{pkg: "web"}, "database/sql", false},
		{rule{pkg: "store", third: []string{"database/sql"}}, "database/sql", true},
		{rule{pkg: "web"}, "C", false},
		{rule{pkg: "envs/mujoco/engine", third: []string{"C"}}, "C", true},
	} {
		if _, got := test.rule.allows(rules, test.imp); got != test.want {
			t.Errorf("%s may import %s = %v, want %v", test.rule.pkg, test.imp, got, test.want)
		}
	}
}

// TestRooms: rooms use the rooms that their row lists, and no others; no two use one another.
func TestRooms(t *testing.T) {
	rooms, _ := tables(t)
	uses := map[string]map[string]bool{}
	for _, p := range append(list(t, ""), list(t, "mujoco")...) {
		from := roomOf(p.ImportPath)
		if uses[from] == nil {
			uses[from] = map[string]bool{}
		}
		for _, imp := range p.Imports {
			if to := roomOf(imp); strings.HasPrefix(imp, module) && to != from && to != vocab {
				uses[from][strings.TrimPrefix(to, "internal/")] = true
			}
		}
	}
	for room, may := range rooms {
		if slices.Contains(may, everything) {
			continue
		}
		if got := slices.Sorted(maps.Keys(uses[room])); !slices.Equal(got, may) {
			t.Errorf("%s uses %q, and docs/design.md, section 2 says %q", room, got, may)
		}
		for to := range uses[room] {
			if back := uses["internal/"+to]; back[strings.TrimPrefix(room, "internal/")] {
				t.Errorf("%s and internal/%s use one another", room, to)
			}
		}
	}
	for room := range uses {
		if rooms[room] == nil {
			t.Errorf("docs/design.md, section 2 has no room %s", room)
		}
	}
}

// TestProgramIsFreeOfTheLab: what only research on the method needs is built into cmd/tiebreak-lab, and not into
// cmd/tiebreak.
func TestProgramIsFreeOfTheLab(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range append(list(t, ""), list(t, "mujoco")...) {
		imports[p.ImportPath] = append(imports[p.ImportPath], p.Imports...)
	}
	program, lab := reached(imports, module+"cmd/tiebreak"), reached(imports, module+"cmd/tiebreak-lab")
	for _, p := range []string{module + "internal/lab/experiment", module + "internal/lab/gaits", module + "internal/lab/librarian", "gonum.org/v1/plot"} {
		for path := range program {
			if under(path, p) {
				t.Errorf("cmd/tiebreak is built with %s", path)
			}
		}
		if !lab[p] {
			t.Errorf("cmd/tiebreak-lab is built without %s: the rule holds nothing", p)
		}
	}
}

// reached returns the packages that a package is built with, as far as imports has them.
func reached(imports map[string][]string, from string) map[string]bool {
	found, next := map[string]bool{from: true}, []string{from}
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		for _, imp := range imports[path] {
			if !found[imp] {
				found[imp], next = true, append(next, imp)
			}
		}
	}
	return found
}

// roomOf returns the folder at the top of the module, or of internal, that holds a package.
func roomOf(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, module), "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// TestFolders: internal has at most twelve folders, packages lie at most two levels below one, and each
// folder with Go code, and each room, says in doc.go what it is.
func TestFolders(t *testing.T) {
	const most, deepest = 12, 3 // folders of internal; levels below it
	tops := must.Get(os.ReadDir("../.."))(t)
	if len(tops) > most {
		t.Errorf("internal has %d folders, at most %d are allowed", len(tops), most)
	}
	said := map[string]bool{}
	for _, p := range append(list(t, ""), list(t, "mujoco")...) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if below, ok := strings.CutPrefix(path, "internal/"); ok && strings.Count(below, "/") >= deepest {
			t.Errorf("%s lies too deep", path)
		}
		source, err := os.ReadFile(filepath.Join(p.Dir, "doc.go"))
		if err != nil || !strings.HasPrefix(string(source), "// ") && !strings.HasPrefix(string(source), "/*") {
			t.Errorf("%s has no doc.go that says what it is", path)
		}
		said[path] = true
	}
	for _, top := range tops {
		if !said["internal/"+top.Name()] {
			t.Errorf("the room internal/%s has no doc.go", top.Name())
		}
	}
}

func under(path, prefix string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") }

type pkg struct {
	ImportPath, Dir string
	GoFiles         []string // without tests
	CgoFiles        []string
	Imports         []string // of non-test files
}

// list returns the packages of the module as they are on Linux with a build tag.
func list(t *testing.T, tag string) (ps []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags="+tag, "-json=ImportPath,Dir,GoFiles,CgoFiles,Imports", module+"...")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1") // the same everywhere
	out := must.Get(cmd.Output())(t)
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return ps
		} else if err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadDir(p.Dir); err != nil { // go test sees what a test reads: a result is not taken from its cache after a change
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
}
