// Package archtest keeps the arrows between packages pointing one way.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "tiebreak/"

// rule is what the packages at or below pkg may import: packages of this module
// (each at or below a listed path) and third-party modules.
type rule struct {
	pkg   string
	local []string
	third []string
}

const (
	gonum      = "gonum.org/v1/gonum"
	plot       = "gonum.org/v1/plot"
	templ      = "github.com/a-h/templ"
	echo       = "github.com/labstack/echo"
	gorilla    = "github.com/gorilla/websocket"
	sqlite     = "modernc.org"
	goose      = "github.com/pressly/goose"
	xnet       = "golang.org/x/net"
	yaml       = "go.yaml.in/yaml"
	xsys       = "golang.org/x/sys/unix" // scheduling of workers, limits of programs
	vocab      = "internal/idrl"
	rngs       = "internal/rng"
	acquires   = "internal/acquisition"
	learns     = "internal/learning"
	represents = "internal/representation"
	experiment = "internal/experiment"
	deepBench  = "internal/experiment/deep"
	teachBench = "internal/experiment/teaching"
	truth      = "internal/sim"       // of true rewards
	binding    = "envs/mujoco/engine" // alone may use cgo
)

// rules is the table of allowed imports (docs/design.md, section 2). The first row
// that matches counts. cmd may import anything.
var rules = []rule{
	{pkg: vocab, third: []string{gonum}},
	{pkg: rngs},
	{pkg: "internal/doctest"},
	{"internal/belief", []string{vocab}, []string{gonum}},
	{"internal/bradley", []string{vocab, rngs}, []string{gonum}},
	{pkg: "internal/safetensors"},
	{"internal/networks/networkstest", []string{"internal/networks"}, nil},
	{"internal/networks", []string{"internal/safetensors"}, nil},
	{"internal/neural", []string{vocab, rngs, "internal/belief", "internal/networks", "internal/nn", "internal/safetensors"}, []string{gonum}},
	{acquires, []string{vocab}, []string{gonum}},
	{"internal/cmaes", []string{"internal/pack"}, []string{gonum}},
	{"internal/solver", []string{vocab, rngs, "internal/cmaes", "internal/networks", "internal/pack", "internal/safetensors"}, []string{gonum}},
	{"internal/representation/representationtest", []string{vocab, rngs, "internal/belief"}, []string{gonum}},
	{represents, []string{vocab}, []string{gonum}},
	{"internal/library", []string{vocab}, nil},
	{"internal/instructions", []string{vocab}, []string{"github.com/yuin/goldmark", "golang.org/x/image"}},
	{
		"internal/librarian",
		[]string{vocab, rngs, "internal/behaviour", "internal/clip", "internal/library", "internal/picture", "internal/sac", "internal/solver", "internal/trainer", "envs/corridor", "envs/mujoco"},
		[]string{gonum},
	},
	{"internal/behaviour", []string{vocab, "internal/sac", "internal/solver"}, nil},
	{"internal/nn/gemm", nil, []string{"golang.org/x/sys/cpu"}},
	{"internal/nn", []string{"internal/nn/gemm"}, nil},
	{"internal/trainer", []string{vocab, rngs, acquires, learns, represents, "internal/steps"}, []string{gonum}},
	{
		"internal/training",
		[]string{vocab, rngs, acquires, learns, "internal/behaviour", "internal/belief", "internal/clip", "internal/jobs", "internal/neural", "internal/pack", "internal/picture", "internal/recordings", "internal/rollouts", "internal/sac", "internal/solver", "internal/steps", "internal/trainer", "envs"},
		[]string{gonum},
	},
	{truth, []string{vocab}, []string{gonum}},
	{"internal/clip/film", []string{vocab, "internal/clip"}, nil},
	{"internal/clip/picture", []string{vocab, "internal/clip"}, []string{gonum, "git.sr.ht/~sbinet/gg", "golang.org/x/image"}},
	{"internal/clip", []string{vocab}, []string{"golang.org/x/image"}},
	{"internal/picture", []string{vocab, "internal/clip"}, []string{gonum}},
	{"internal/questions", []string{vocab, "internal/clip", "internal/picture"}, nil},
	{"internal/answerable", []string{vocab, "internal/picture"}, []string{gonum}},
	{"internal/steps", []string{vocab}, nil},
	{"internal/live", []string{vocab}, nil},
	{"internal/quality", []string{vocab, rngs, "internal/agreement"}, []string{gonum}},
	{"internal/agreement", []string{vocab}, []string{gonum}},
	{"internal/export", []string{vocab}, nil},
	{"internal/studyfile", []string{vocab}, []string{yaml}},
	{"internal/bundle", []string{vocab, "internal/export", "internal/steps"}, []string{"github.com/parquet-go/parquet-go"}},
	{pkg: "internal/jsonlimit"},
	{pkg: "internal/waittest"},
	{"internal/outside", []string{vocab, "internal/clip", "internal/jsonlimit"}, []string{xsys}},
	{"internal/rollouts", []string{vocab, "internal/clip", "internal/jsonlimit", "internal/outside", "internal/steps"}, nil},
	{pkg: "internal/numpy"},
	{pkg: "internal/recordings/recordingstest"},
	{"internal/recordings", []string{vocab, "internal/clip", "internal/jsonlimit", "internal/numpy", "internal/outside", "internal/pack"}, []string{gonum}},
	{"internal/labels", []string{vocab, "internal/numpy", "internal/recordings"}, nil},
	{"internal/jobs/jobstest", []string{vocab, "internal/jobs"}, nil},
	{"internal/jobs", []string{vocab}, []string{xsys}},
	{pkg: "internal/pack"},
	{"internal/sac", []string{vocab, rngs, "internal/networks", "internal/nn", "internal/pack", "internal/safetensors"}, []string{gonum}},
	{"internal/auth/authtest", []string{vocab, "internal/auth"}, nil},
	{"internal/auth", []string{vocab}, nil},
	{"internal/posterior", []string{vocab}, nil},
	{"internal/stopping", []string{vocab}, nil},
	{"internal/insight", []string{vocab, rngs, "internal/agreement", "internal/posterior", "internal/quality"}, []string{gonum}},
	{"internal/regret", []string{vocab}, []string{gonum}},
	{"internal/session/journaltest", []string{vocab, represents}, []string{"github.com/google/go-cmp"}},
	{learns, []string{vocab, acquires, "internal/regret"}, []string{gonum}},
	{"internal/session", []string{vocab, acquires, learns, represents, rngs, "internal/answerable", "internal/insight", "internal/picture", "internal/quality", "internal/posterior", "internal/steps", "internal/stopping"}, []string{gonum}},
	{
		"internal/outcome",
		[]string{vocab, "internal/behaviour", "internal/belief", "internal/export", "internal/networks", "internal/neural", "internal/sac", "internal/session", "internal/solver"},
		nil,
	},
	{
		"internal/rehearsal",
		[]string{vocab, rngs, truth, "internal/bradley", "internal/seeing", "internal/solver", "internal/session", "internal/clip", "web/client", "web/wire"},
		[]string{gonum},
	},
	{"internal/gaits", []string{vocab, rngs, "internal/solver", "envs/mujoco"}, []string{gonum}},
	{pkg: "internal/experiment/authors"},
	{"internal/experiment/report", []string{vocab, rngs, acquires, experiment}, []string{gonum, plot}},
	{
		deepBench,
		[]string{vocab, rngs, acquires, learns, "internal/neural", "internal/pack", "internal/quality", "internal/sac", truth, "envs"},
		[]string{gonum},
	},
	{"internal/seeing", []string{vocab, rngs, "internal/clip", "internal/picture"}, nil},
	{
		teachBench,
		[]string{vocab, rngs, acquires, learns, "internal/behaviour", "internal/clip", "internal/posterior", "internal/seeing", "internal/trainer", "internal/training", truth, "envs"},
		[]string{gonum},
	},
	{
		experiment,
		[]string{vocab, rngs, "internal/belief", acquires, learns, represents, "internal/posterior", "internal/trainer", "internal/solver", truth, "internal/experiment/authors", "envs"},
		[]string{gonum},
	},
	{"envs/envtest", []string{vocab, rngs}, []string{gonum}},
	{binding, []string{vocab}, nil},
	{"envs", []string{vocab, "internal/library", "internal/outside", "internal/recordings", "envs"}, []string{gonum}},
	{"store/storetest", []string{"store"}, nil},
	{"store", []string{vocab}, []string{sqlite, goose}},
	{pkg: "static"},
	{"templates", nil, []string{templ}},
	{"web/wire", []string{vocab}, nil},
	{"web/client", []string{vocab, "web/wire"}, []string{gorilla, xnet}},
	{
		"web",
		[]string{vocab, acquires, "internal/live", "internal/auth", "internal/bradley", "internal/bundle", "internal/export", "internal/insight", "internal/instructions", "internal/quality", "internal/rollouts", "internal/studyfile", "web", "templates", "static"},
		[]string{templ, echo, gorilla},
	},
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range append(list(t, ""), list(t, "mujoco")...) {
		path := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains(p.Imports, module+truth) && path != experiment && path != deepBench && path != teachBench && path != "internal/rehearsal" {
			t.Errorf("%s must not import %s: true rewards are for benchmarks, simulated annotators and tests", path, truth)
		}
		if strings.HasPrefix(path, "cmd/") || path == "internal/archtest" {
			continue
		}
		i := slices.IndexFunc(rules, func(r rule) bool { return under(path, r.pkg) })
		if i < 0 {
			t.Errorf("%s has no row in the table", path)
			continue
		}
		seen[rules[i].pkg] = true
		for _, imp := range p.Imports {
			if !rules[i].allows(imp) {
				t.Errorf("%s must not import %s", path, imp)
			}
		}
	}
	for _, r := range rules {
		if !seen[r.pkg] {
			t.Errorf("the table has a row for %s, which does not exist", r.pkg)
		}
	}
}

// allows reports whether a package under r may import imp. The standard library
// is free, but for the global random generator.
func (r rule) allows(imp string) bool {
	if local, ok := strings.CutPrefix(imp, module); ok {
		return slices.ContainsFunc(r.local, func(p string) bool { return under(local, p) })
	}
	if strings.Contains(strings.Split(imp, "/")[0], ".") {
		return slices.ContainsFunc(r.third, func(p string) bool { return under(imp, p) })
	}
	if imp == "database/sql" {
		return under(r.pkg, "store")
	}
	if imp == "C" {
		return r.pkg == binding
	}
	return imp != "math/rand"
}

func TestAllows(t *testing.T) {
	for _, test := range []struct {
		rule rule
		imp  string
		want bool
	}{
		{rule{pkg: "envs", local: []string{vocab}}, module + vocab, true},
		{rule{pkg: "envs", local: []string{vocab}}, module + "internal/sim", false},
		{rule{pkg: "envs", third: []string{gonum}}, gonum + "/mat", true},
		{rule{pkg: "envs", third: []string{gonum}}, plot, false},
		{rule{pkg: "envs"}, "math/rand", false},
		{rule{pkg: "envs"}, "math/rand/v2", true},
		{rule{pkg: "web"}, "database/sql", false},
		{rule{pkg: "store"}, "database/sql", true},
		{rule{pkg: "web"}, "C", false},
		{rule{pkg: binding}, "C", true},
	} {
		if got := test.rule.allows(test.imp); got != test.want {
			t.Errorf("%s may import %s = %v, want %v", test.rule.pkg, test.imp, got, test.want)
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

// list returns the packages of the module as they are with a build tag.
func list(t *testing.T, tag string) (ps []pkg) {
	t.Helper()
	out, err := exec.Command("go", "list", "-tags="+tag, "-json=ImportPath,Dir,GoFiles,CgoFiles,Imports", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
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
