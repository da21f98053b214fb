package archtest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	gotypes "go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	yamlv3 "go.yaml.in/yaml/v3"
)

// repository is the root of the repository.
const repository = "../../.."

// A taskfile holds the parts of Taskfile.yml that these tests read.
type taskfile struct {
	Vars  map[string]any
	Tasks map[string]struct {
		Vars map[string]any
		Cmds []any
	}
}

// A testRun is a command "go test" of a task.
type testRun struct {
	task      string
	env       string   // that the command sets
	packages  []string // folders, from the root of the repository
	context   build.Context
	race      bool
	run, skip *regexp.Regexp // of names; nil for all, none
}

// A goTest is a test, an example, or a fuzz target with its seeds.
type goTest struct {
	folder, file, name string
}

// TestEveryTestRunsInATask: every test runs in a task that "task test:full" calls, whatever its name,
// the constraint of its file, and no two of the commands run it in the same way.
// Packages that start goroutines run under the race detector.
func TestEveryTestRunsInATask(t *testing.T) {
	runs := testRuns(t, "test:full")
	tests, share := goTests(t)
	for _, g := range tests {
		ways := map[string]string{}
		for _, r := range runs {
			if !r.runs(t, g) {
				continue
			}
			if before := ways[r.way()]; before != "" {
				t.Errorf("%s of %s runs in %s, and in the same way in %s", g.name, g.folder, before, r.task)
			}
			ways[r.way()] = r.task
		}
		if len(ways) == 0 {
			t.Errorf("%s of %s/%s runs in no task that test:full calls", g.name, g.folder, g.file)
		}
	}
	for folder, file := range share {
		if strings.HasPrefix(folder, "cmd/") { // its tests drive a server in a process of its own, which is not built for the detector
			continue
		}
		raced := func(r testRun) bool { return r.race && slices.Contains(r.packages, folder) }
		if hasTests := func(g goTest) bool { return g.folder == folder }; slices.ContainsFunc(tests, hasTests) && !slices.ContainsFunc(runs, raced) {
			t.Errorf("%s/%s starts goroutines, and no task runs the tests of its package under the race detector: see RACED and LONG in Taskfile.yml", folder, file)
		}
	}
}

// TestTaskLeavesNothingElseOut: "task test" runs every test but those of test:statistics and test:slow, those of
// builds without cgo, and those that need the disassembler of test:arm64.
func TestTaskLeavesNothingElseOut(t *testing.T) {
	usual, apartBuilds := testRuns(t, "test"), slices.Concat(testRuns(t, "check:portable"), testRuns(t, "test:arm64"))
	tests, _ := goTests(t)
	var named []testRun // that leave out all but named tests
	for _, task := range []string{"test:statistics", "test:slow"} {
		runs := testRuns(t, task)
		if len(runs) != 1 || runs[0].run == nil {
			t.Fatalf("%s has not one command with -run: %+v", task, runs)
		}
		for name := range strings.SplitSeq(strings.Trim(runs[0].run.String(), "^()$"), "|") {
			if !slices.ContainsFunc(tests, func(g goTest) bool { return g.name == name }) {
				t.Errorf("%s names %s, which does not exist", task, name)
			}
		}
		named = append(named, runs...)
	}
	for _, g := range tests {
		in := func(r testRun) bool { return r.runs(t, g) }
		switch now, apart := slices.ContainsFunc(usual, in), slices.ContainsFunc(named, in); {
		case now && apart:
			t.Errorf("%s of %s runs in test and in test:statistics or test:slow", g.name, g.folder)
		case !now && !apart && !slices.ContainsFunc(apartBuilds, in):
			t.Errorf("%s of %s runs neither in test nor in test:statistics, test:slow, check:portable or test:arm64", g.name, g.folder)
		}
	}
}

// runs reports whether a command runs a test.
func (r testRun) runs(t *testing.T, g goTest) bool {
	t.Helper()
	if !slices.Contains(r.packages, g.folder) || r.run != nil && !r.run.MatchString(g.name) || r.skip != nil && r.skip.MatchString(g.name) {
		return false
	}
	ok := must.Get(r.context.MatchFile(filepath.Join(repository, g.folder), g.file))(t)
	return ok
}

// way tells apart commands that do not run a test in the same way.
func (r testRun) way() string {
	return fmt.Sprint(r.env, r.race, r.context.CgoEnabled, r.context.BuildTags)
}

// testRuns returns the commands "go test" of a task and of those that it calls, on Linux with a C compiler and MuJoCo.
func testRuns(t *testing.T, task string) (runs []testRun) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(repository, "Taskfile.yml")))(t)
	var file taskfile
	must.Do(t, yamlv3.Unmarshal(text, &file))
	for _, command := range file.commands(t, task, "") {
		if r, ok := parseRun(t, command.text); ok {
			r.task = command.task
			runs = append(runs, r)
		}
	}
	if len(runs) == 0 {
		t.Fatalf("%s runs no tests", task)
	}
	return runs
}

// A command is one of a task, with the variables replaced.
type command struct{ task, text string }

var (
	called   = regexp.MustCompile(`^(\w+=\w+ )?sh \.ci/(?:timed|beside) ((?:[a-z:]\S* ?)+)`) // tasks that a script runs
	variable = regexp.MustCompile(`\{\{\.(\w+)\}\}`)
)

// commands returns those of a task and of the tasks that it calls, in order, where env, NAME=value, is set.
func (f taskfile) commands(t *testing.T, name, env string) (out []command) {
	t.Helper()
	task, ok := f.Tasks[name]
	if !ok {
		t.Fatalf("Taskfile.yml has no task %s", name)
	}
	for _, c := range task.Cmds {
		text, _ := c.(string)
		if fields, ok := c.(map[string]any); ok {
			if name, ok := fields["task"].(string); ok {
				out = append(out, f.commands(t, name, env)...)
				continue
			}
			text, _ = fields["cmd"].(string)
		}
		if m := called.FindStringSubmatch(text); m != nil {
			for name := range strings.FieldsSeq(m[2]) {
				out = append(out, f.commands(t, name, env+m[1])...)
			}
		} else {
			out = append(out, command{name, f.replace(t, text, task.Vars, env)})
		}
	}
	return out
}

// replace puts the values of variables into a text: those of the task, else those of the file. What needs the
// machine is known; other commands of variables, which list packages, are run.
func (f taskfile) replace(t *testing.T, text string, vars map[string]any, env string) string {
	t.Helper()
	return variable.ReplaceAllStringFunc(text, func(use string) string {
		name := variable.FindStringSubmatch(use)[1]
		switch name {
		case "TAGS":
			return "-tags=mujoco"
		case "RACE":
			return "-race"
		case "ARGS", "CLI_ARGS":
			return ""
		}
		value, ok := vars[name]
		if !ok {
			value = f.Vars[name]
		}
		switch value := value.(type) {
		case string:
			return f.replace(t, value, vars, env)
		case map[string]any:
			script, _ := value["sh"].(string)
			cmd := exec.Command("sh", "-c", f.replace(t, script, vars, env))
			cmd.Dir, cmd.Env = repository, append(cmd.Environ(), strings.Fields("TIEBREAK_LONG= "+env)...) // these tests may run with it
			said, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s of Taskfile.yml: %v", name, err)
			}
			return strings.TrimSpace(string(said))
		}
		return use
	})
}

// parseRun reads a command; ok is false if it is no "go test".
func parseRun(t *testing.T, text string) (r testRun, ok bool) {
	t.Helper()
	env, args, ok := strings.Cut(text, "go test ")
	if !ok || strings.HasPrefix(text, "echo") {
		return r, false
	}
	fs := flag.NewFlagSet("go test", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.BoolVar(&r.race, "race", false, "")
	run, skip, tags := fs.String("run", "", ""), fs.String("skip", "", ""), fs.String("tags", "", "")
	for _, other := range []string{"shuffle", "timeout", "parallel", "count", "p", "exec"} {
		fs.String(other, "", "")
	}
	if err := fs.Parse(strings.Fields(strings.ReplaceAll(args, "'", ""))); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	r.env, r.context = env, build.Default
	r.context.GOOS, r.context.GOARCH, r.context.CgoEnabled = "linux", "amd64", !strings.Contains(env, "CGO_ENABLED=0")
	if strings.Contains(env, "GOARCH=arm64") {
		r.context.GOARCH = "arm64"
	}
	if *tags != "" {
		r.context.BuildTags = append(r.context.BuildTags, *tags)
	}
	if r.race {
		r.context.BuildTags = append(r.context.BuildTags, "race")
	}
	if *run != "" {
		r.run = regexp.MustCompile(*run)
	}
	if *skip != "" {
		r.skip = regexp.MustCompile(*skip)
	}
	r.packages = folders(t, *tags, fs.Args())
	return r, true
}

// folders returns the folders of packages, which a build tag may change.
func folders(t *testing.T, tags string, patterns []string) (out []string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-tags=" + tags, "-f", "{{.ImportPath}}"}, patterns...)...)
	cmd.Dir = repository
	said, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v", patterns, err)
	}
	for name := range strings.FieldsSeq(string(said)) {
		out = append(out, strings.TrimPrefix(name, module))
	}
	return out
}

// A parsed file of Go.
type parsed struct {
	folder, name string
	file         *ast.File
}

// goFiles returns all files of Go in the repository, but for those of other modules.
func goFiles(t *testing.T) (files []parsed) {
	t.Helper()
	root := os.DirFS(repository)
	must.Do(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || name != "." && otherModule(root, name) || d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "venv") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository, name), nil, parser.SkipObjectResolution)
		files = append(files, parsed{path.Dir(name), d.Name(), file})
		return err
	}))
	return files
}

// goTests returns all tests, and of each folder with a package that starts goroutines a file that does.
func goTests(t *testing.T) (tests []goTest, share map[string]string) {
	t.Helper()
	share = map[string]string{}
	files := goFiles(t)
	for _, f := range files {
		if startsGoroutines(f.file) {
			share[f.folder] = f.name
		}
	}
	for _, f := range files {
		if !strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		for _, d := range f.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && isTest(fn) {
				tests = append(tests, goTest{f.folder, f.name, fn.Name.Name})
			}
		}
	}
	return tests, share
}

func otherModule(root fs.FS, folder string) bool {
	_, err := fs.Stat(root, path.Join(folder, "go.mod"))
	return err == nil
}

// isTest reports whether a function is a test, an example or a fuzz target.
func isTest(fn *ast.FuncDecl) bool {
	for prefix, takes := range map[string]string{"Test": "*testing.T", "Fuzz": "*testing.F", "Example": ""} {
		if fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, prefix) {
			continue
		}
		var types []string
		for _, p := range fn.Type.Params.List {
			types = append(types, gotypes.ExprString(p.Type))
		}
		if strings.Join(types, ",") == takes {
			return true
		}
	}
	return false
}

// startsGoroutines reports whether a file does, by itself or by the method Go of a group.
func startsGoroutines(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && s.Sel.Name == "Go"
		}
		return true
	})
	return found
}
