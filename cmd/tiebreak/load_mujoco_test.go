//go:build mujoco && linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCommandsDoNotLoadMuJoCo: commands that need no robot do not load MuJoCo, which takes 25 MB of memory.
func TestCommandsDoNotLoadMuJoCo(t *testing.T) {
	t.Parallel()
	data := answered(t)
	loads := func(args ...string) bool {
		cmd := exec.CommandContext(t.Context(), program(t), args...)
		cmd.Env = append(os.Environ(), "LD_DEBUG=files") // glibc's linker writes down what it loads
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("tiebreak %v: %v\n%s", args, err, said)
		}
		return strings.Contains(string(said), "calling init: ") && strings.Contains(string(said), "libmujoco")
	}
	if !loads("version") {
		t.Fatal("tiebreak version loads no MuJoCo, or the linker does not say so with LD_DEBUG=files: nothing can be compared")
	}
	for _, line := range []string{"--help", "serve --help", "user --help", "questions --help"} {
		if loads(strings.Fields(line)...) {
			t.Errorf("tiebreak %s loads MuJoCo", line)
		}
	}
	for _, line := range []string{"session list", "annotator list --session s", "invite list --session s", "token list", "user list", "export"} {
		if loads(append(strings.Fields(line), "--data", data)...) {
			t.Errorf("tiebreak %s loads MuJoCo", line)
		}
	}
}
