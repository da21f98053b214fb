//go:build mujoco

package engine_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

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
	must.Do(t, engine.Check())
	folder := t.TempDir()
	text := filepath.Join(folder, "text.so")
	must.Do(t, os.WriteFile(text, []byte("no library"), 0o600))
	const use = "name a library of MuJoCo 2.2 or newer, or unset MUJOCO_PATH"
	for _, test := range []struct{ name, library, says, advice string }{
		{"no file", filepath.Join(folder, "none.so"), "none.so", use},
		{"an empty folder", t.TempDir(), "holds no library", "or unset MUJOCO_PATH"},
		{"no library", text, "text.so", use},
		{"another library", compile(t, folder, "other", "int f(void) { return 0; }"), "it is not MuJoCo", use},
		{"too old", compile(t, folder, "older", fake(210, `"2.1.0"`)), "version 2.1.0 is too old", use},
		{"too new", compile(t, folder, "newer", fake(9000000, `"9.0.0"`)), "version 9.0.0 is newer than this program knows", "install a release up to 4.0.1, or a newer Tiebreak"},
		{"another build of a release", compile(t, folder, "single", fake(337, `"3.3.7"`)), "version 3.3.7 does not work as its release does", use},
		{"half a library", compile(t, folder, "half", "int mj_version(void) { return 222; }"), "it has no function mj_versionString", use},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestCheck$")
			cmd.Env = append(os.Environ(), childKey+"=1", engine.PathVariable+"="+test.library)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := string(out); !strings.Contains(got, "says: needs MuJoCo") || !strings.Contains(got, test.says) || !strings.Contains(got, test.advice) {
				t.Errorf("it says\n%s\nwant %q and %q", got, test.says, test.advice)
			}
		})
	}
}

// fake is the C of a library that has every function and variable of MuJoCo, and
// structures of zeros.
func fake(version int, text string) string {
	return fmt.Sprintf(`
		static char zeros[1 << 20];
		void (*mju_user_error)(const char*), (*mju_user_warning)(const char*);
		int mj_version(void) { return %d; }
		const char* mj_versionString(void) { return %s; }
		void mj_defaultVFS(void* f) {}
		void mj_deleteVFS(void* f) {}
		int mj_addBufferVFS(void* f, const char* s, const void* b, int n) { return 0; }
		void* mj_loadXML(const char* s, const void* f, char* t, int n) { return zeros; }
		void mj_deleteModel(void* m) {}
		void* mj_makeData(const void* m) { return zeros; }
		void mj_deleteData(void* d) {}
		int mj_name2id(const void* m, int k, const char* s) { return 0; }
		void mj_resetData(const void* m, void* d) {}
		void mj_forward(const void* m, void* d) {}
		void mj_kinematics(const void* m, void* d) {}
		void mj_step(const void* m, void* d) {}
		void mj_rnePostConstraint(const void* m, void* d) {}`, version, text)
}

// compile makes a shared library of C.
func compile(t *testing.T, folder, name, source string) string {
	t.Helper()
	code, library := filepath.Join(folder, name+".c"), filepath.Join(folder, name+".so")
	must.Do(t, os.WriteFile(code, []byte(source), 0o600))
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

// BenchmarkSelfCheck measures how long opening the library takes, and how long loading the file alone.
func BenchmarkSelfCheck(b *testing.B) {
	must.Do(b, engine.Check())
	for b.Loop() {
		must.Do(b, engine.SelfCheck())
	}
}
