package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
)

// machine makes a file system of empty files below a temporary folder.
func machine(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, file := range files {
		path := filepath.Join(root, file)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(file), 0o600))
	}
	return root
}

// TestCandidates has the order of the search.
func TestCandidates(t *testing.T) {
	const (
		debian  = "usr/lib/x86_64-linux-gnu/libmujoco.so.2.2.2"
		local   = "usr/local/lib/libmujoco.so.3.3.7"
		venv    = "work/env/lib/python3.12/site-packages/mujoco/libmujoco.so.3.9.0"
		venvNew = "work/env/lib/python3.12/site-packages/mujoco/libmujoco.so.3.10.0"
		conda   = "conda/lib/python3.11/site-packages/mujoco/libmujoco.so.3.1.6"
		shell   = "opt/py/lib/python3.13/site-packages/mujoco/libmujoco.so.3.2.0"
		user    = "home/.local/lib/python3.11/site-packages/mujoco/libmujoco.so.4.0.1"
		pyenv   = "home/.pyenv/versions/3.11.7/lib/python3.11/site-packages/mujoco/libmujoco.so.2.3.7"
		brew    = "opt/homebrew/lib/libmujoco.3.3.0.dylib"
		mac     = "home/Library/Python/3.9/lib/python/site-packages/mujoco/libmujoco.3.2.0.dylib"
		zip     = "release/lib/libmujoco.so.3.3.0"
	)
	root := machine(t, debian, local, venv, venvNew, conda, shell, user, pyenv, brew, mac, zip, "opt/py/bin/python3", "empty/readme")
	at := func(files ...string) []string {
		for i, file := range files {
			files[i] = filepath.Join(root, file)
		}
		return files
	}
	for _, test := range []struct {
		name, os string
		env      map[string]string
		want     []string
	}{
		{"the system, the shell's Python, the user's", "linux", nil, at(local, debian, shell, user, pyenv)},
		{"an active environment, newest first", "linux", map[string]string{"VIRTUAL_ENV": "work/env"}, at(local, debian, venvNew, venv, shell, user, pyenv)},
		{"conda", "linux", map[string]string{"CONDA_PREFIX": "conda"}, at(local, debian, conda, shell, user, pyenv)},
		{"folders of the loader first", "linux", map[string]string{"LD_LIBRARY_PATH": "release/lib"}, at(zip, local, debian, shell, user, pyenv)},
		{"macOS", "darwin", nil, at(brew, mac)},
		{"a named file", "linux", map[string]string{PathVariable: zip}, at(zip)},
		{"a named file that is not there", "linux", map[string]string{PathVariable: "none"}, at("none")},
		{"an unpacked release", "linux", map[string]string{PathVariable: "release"}, at(zip)},
		{"a named environment", "linux", map[string]string{PathVariable: "work/env"}, at(venvNew, venv)},
		{"a folder without it", "linux", map[string]string{PathVariable: "empty"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := system{os: test.os, root: root, home: filepath.Join(root, "home"), env: func(key string) string {
				if test.env[key] == "" {
					return ""
				}
				return filepath.Join(root, test.env[key])
			}, lookPath: func(string) (string, error) { return filepath.Join(root, "opt/py/bin/python3"), nil }}
			var got []string
			for _, c := range s.candidates() {
				got = append(got, c.path)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestLinksAreTriedOnce(t *testing.T) {
	root := machine(t, "usr/lib/libmujoco.so.2.2.2")
	must.Do(t, os.Symlink("libmujoco.so.2.2.2", filepath.Join(root, "usr/lib/libmujoco.so")))
	s := system{os: "linux", root: root, home: root, env: func(string) string { return "" }, lookPath: func(string) (string, error) { return "", errors.New("no Python") }}
	if got := s.candidates(); len(got) != 1 || got[0].origin != "the system" {
		t.Errorf("found %v", got)
	}
}

// TestMissing says what to do in each case.
func TestMissing(t *testing.T) {
	old := []attempt{{candidate{"/usr/lib/libmujoco.so", "the system"}, "version 2.1.0 is too old"}}
	for _, test := range []struct {
		name, env string
		tried     []attempt
		says      []string
	}{
		{"nothing", "", nil, []string{"not on this machine", "pip install mujoco", "libmujoco-dev", PathVariable}},
		{"only what cannot be used", "", old, []string{"/usr/lib/libmujoco.so", "2.1.0 is too old", "pip install mujoco"}},
		{"a wrong path", "/none", []attempt{{candidate{"/none", PathVariable}, "no such file"}}, []string{"/none", "no such file", "unset MUJOCO_PATH"}},
		{"a folder without it", "/empty", nil, []string{"/empty", "holds no library", "unset MUJOCO_PATH"}},
	} {
		t.Setenv(PathVariable, test.env)
		for _, says := range test.says {
			if got := missing(test.tried).Error(); !strings.Contains(got, says) {
				t.Errorf("%s: it says %q, want %q in it", test.name, got, says)
			}
		}
	}
}
