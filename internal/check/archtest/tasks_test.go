package archtest

import (
	"go/build/constraint"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testFunc finds the tests of a file.
var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// plainTests finds the tests that "task test" runs without the race detector, and their package.
var plainTests = regexp.MustCompile(`go test -run='\^\(([\w|]+)\)\$' \./([\w/]+)`)

// The suite runs under the race detector, which leaves out the files with the constraint !race:
// tests of many simulated sessions. Each of them is named in the command that "task test" runs without
// the detector.
func TestEveryTestRunsInATask(t *testing.T) {
	root := os.DirFS("../../..")
	tasks, err := fs.ReadFile(root, "Taskfile.yml")
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]bool{}
	for _, m := range plainTests.FindAllStringSubmatch(string(tasks), -1) {
		for name := range strings.SplitSeq(m[1], "|") {
			runs[m[2]+"."+name] = true
		}
	}
	found := map[string]bool{}
	err = fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != "." || d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "venv") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		source, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		if !holds(t, file, string(source)) {
			for _, m := range testFunc.FindAllStringSubmatch(string(source), -1) {
				found[path.Dir(file)+"."+m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range found {
		if !runs[name] {
			t.Errorf("%s runs in no task: its file is left out by the race detector. Name it in Taskfile.yml", name)
		}
	}
	for name := range runs {
		if !found[name] {
			t.Errorf("Taskfile.yml names %s, which does not exist or runs under the race detector already", name)
		}
	}
	if len(found) == 0 {
		t.Error("no test was found that the race detector leaves out")
	}
}

// holds reports whether the constraint of a file holds in a run of the suite: under the race detector
// on Linux with MuJoCo, or, for environments, in the step of .ci/run without cgo.
func holds(t *testing.T, file, source string) bool {
	for line := range strings.Lines(source) {
		if strings.HasPrefix(line, "package ") {
			break
		}
		if !constraint.IsGoBuild(line) {
			continue
		}
		e, err := constraint.Parse(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		in := func(set ...string) bool { return e.Eval(func(tag string) bool { return slices.Contains(set, tag) }) }
		return in("linux", "unix", "cgo", "race", "mujoco") || strings.HasPrefix(file, "envs/") && in("linux", "unix")
	}
	return true
}
