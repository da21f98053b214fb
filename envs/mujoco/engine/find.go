package engine

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// PathVariable is the environment variable that names the library, or a folder
// that holds it.
const PathVariable = "MUJOCO_PATH"

// A candidate is a file that may be the library.
type candidate struct {
	path   string
	origin string // where it was looked for, for people
}

// A system is where the library is looked for.
type system struct {
	os       string // as runtime.GOOS
	root     string // of the file system; "" but in tests
	home     string
	env      func(string) string
	lookPath func(string) (string, error)
}

// here is this machine.
func here() system {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/nonexistent"
	}
	return system{os: runtime.GOOS, home: home, env: os.Getenv, lookPath: exec.LookPath}
}

// candidates returns the files to try, best first: what PathVariable names, and
// nothing else if it is set; else the system's package and then the library inside
// an installed Python package. Of several in one folder the newest comes first.
func (s system) candidates() []candidate {
	if named := s.env(PathVariable); named != "" {
		return s.named(named)
	}
	var all []candidate
	for _, dir := range s.systemFolders() {
		all = append(all, s.in(dir, "the system")...)
	}
	for _, dir := range s.pythonFolders() {
		all = append(all, s.in(filepath.Join(dir, "mujoco"), "the Python package mujoco")...)
	}
	return distinct(all)
}

// named returns the file that path is, or the libraries in the folder that it is:
// one with the library, an unpacked release, a framework or a Python environment.
func (s system) named(path string) []candidate {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []candidate{{path, PathVariable}}
	}
	var all []candidate
	for _, below := range []string{
		".", "lib", "mujoco", "Versions/A", "mujoco.framework/Versions/A", "Contents/Frameworks/mujoco.framework/Versions/A",
		"lib/python3*/site-packages/mujoco",
	} {
		all = append(all, s.in(filepath.Join(path, below), PathVariable)...)
	}
	return distinct(all)
}

// systemFolders returns patterns of folders where packages of the system put it.
func (s system) systemFolders() []string {
	if s.os == "darwin" {
		const framework = "mujoco.framework/Versions/A"
		return []string{
			s.root + "/opt/homebrew/lib", s.root + "/usr/local/lib", s.root + "/Library/Frameworks/" + framework,
			s.root + "/Applications/MuJoCo.app/Contents/Frameworks/" + framework,
		}
	}
	dirs := filepath.SplitList(s.env("LD_LIBRARY_PATH"))
	return append(dirs, s.root+"/usr/local/lib", s.root+"/usr/lib/*-linux-*", s.root+"/usr/lib64", s.root+"/usr/lib")
}

// pythonFolders returns patterns of folders with Python packages: of the active
// environment, of the python3 that a shell would start, of the user, of the system.
// No Python is started.
func (s system) pythonFolders() []string {
	var dirs []string
	prefix := func(dir string) {
		for _, kind := range []string{"site-packages", "dist-packages"} {
			dirs = append(dirs, filepath.Join(dir, "lib", "python3*", kind))
		}
	}
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := s.env(name); dir != "" {
			prefix(dir)
		}
	}
	if python, err := s.lookPath("python3"); err == nil {
		prefix(filepath.Dir(filepath.Dir(python)))
		if target, err := filepath.EvalSymlinks(python); err == nil {
			prefix(filepath.Dir(filepath.Dir(target)))
		}
	}
	prefix(filepath.Join(s.home, ".local"))
	dirs = append(dirs, filepath.Join(s.home, "Library", "Python", "3*", "lib", "python", "site-packages"))
	prefix(filepath.Join(cmp.Or(s.env("PYENV_ROOT"), filepath.Join(s.home, ".pyenv")), "versions", "*"))
	prefix(s.root + "/usr/local")
	return append(dirs, s.root+"/usr/lib/python3/dist-packages")
}

// in returns the libraries in the folders that match pattern.
func (s system) in(pattern, origin string) []candidate {
	names := []string{"libmujoco.so", "libmujoco.so.*"}
	if s.os == "darwin" {
		names = []string{"libmujoco.dylib", "libmujoco.*.dylib"}
	}
	var found []candidate
	for _, name := range names {
		paths, err := filepath.Glob(filepath.Join(pattern, name))
		if err != nil {
			continue // a folder name with brackets is not a valid pattern
		}
		for _, path := range paths {
			found = append(found, candidate{path, origin})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return slices.Compare(numbers(b.path), numbers(a.path))
	})
	return found
}

var digits = regexp.MustCompile(`\d+`)

// numbers returns the numbers in the name of a file, so that 3.10 comes after 3.9.
func numbers(path string) []int {
	var all []int
	for _, text := range digits.FindAllString(filepath.Base(path), -1) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil // too long for a version
		}
		all = append(all, n)
	}
	return all
}

// distinct leaves out links to files that come earlier.
func distinct(all []candidate) []candidate {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(c candidate) bool {
		target, err := filepath.EvalSymlinks(c.path)
		if err != nil {
			target = c.path
		}
		if seen[target] {
			return true
		}
		seen[target] = true
		return false
	})
}

// An attempt is a candidate that cannot be used.
type attempt struct {
	candidate
	why string
}

// refusals joins what was tried, for people; one sentence each.
func refusals(tried []attempt) string {
	texts := make([]string, len(tried))
	for i, a := range tried {
		origin := " (" + a.origin + ")"
		if a.origin == PathVariable {
			origin = "" // it has been said
		}
		texts[i] = a.path + origin + ": " + strings.TrimPrefix(a.why, a.path+": ")
	}
	return strings.Join(texts, "; ")
}
