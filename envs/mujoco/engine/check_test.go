//go:build mujoco && cgo

package engine_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/idrl"
)

const childKey = "ENGINE_CHECK"

// TestCheck runs Check in processes with other libraries, since one process opens
// its library once.
func TestCheck(t *testing.T) {
	if os.Getenv(childKey) != "" {
		err := engine.Check()
		_, loading := engine.Load(nil)
		if !errors.Is(loading, err) || idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("Load says %v, Check %v", loading, err)
		}
		fmt.Println("says:", err)
		return
	}
	if err := engine.Check(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	text := filepath.Join(folder, "text.so")
	if err := os.WriteFile(text, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, library, says string }{
		{"no file", filepath.Join(folder, "none.so"), "none.so"},
		{"no library", text, "text.so"},
		{"another library", compile(t, folder, "other", "int f(void) { return 0; }"), "the library is not MuJoCo"},
		{"another version", compile(t, folder, "newer", "int mj_version(void) { return 300; }"), "the library is version 300 and this program was built for 222"},
		{"half a library", compile(t, folder, "half", "int mj_version(void) { return 222; }"), "the library has no function mj_defaultVFS"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestCheck$")
			cmd.Env = append(os.Environ(), childKey+"=1", "TIEBREAK_MUJOCO="+test.library)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := string(out); !strings.Contains(got, "says: needs MuJoCo 2.2, which is not available here: ") || !strings.Contains(got, test.says) || !strings.Contains(got, engine.Package) {
				t.Errorf("it says\n%s\nwant %q and what to install", got, test.says)
			}
		})
	}
}

// compile makes a shared library of C.
func compile(t *testing.T, folder, name, source string) string {
	t.Helper()
	code, library := filepath.Join(folder, name+".c"), filepath.Join(folder, name+".so")
	if err := os.WriteFile(code, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, code).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return library
}

func TestBrokenIsNoOtherError(t *testing.T) {
	if _, err := engine.Load(nil); errors.Is(err, engine.ErrBroken) {
		t.Errorf("a refused model is a breakdown: %v", err)
	}
}
