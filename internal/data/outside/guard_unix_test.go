//go:build unix

package outside

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// hanging writes the description of an environment that hangs behind a shell, and returns its
// path and that of a pipe, which the hanging process opens.
func hanging(t *testing.T) (description, pipe string) {
	t.Helper()
	pipe = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	description = write(t, "hang.json", `{"command": ["sh", "-c", "sh hang.sh; exit $?"], "environment": {"PIPE": "`+pipe+`"}, "answer_seconds": 600}`)
	script := `read -r line
echo '{"id":1,"result":{"protocol":1,"name":"hang","version":"1","observation":1,"action":{"low":[-1],"high":[1]},"features":["a"],"horizon":20,"step_seconds":0.1,"draws":"picture"}}'
read -r line || exit 0
exec 3> "$PIPE"
echo $$ >&3
exec sleep 600
`
	if err := os.WriteFile(filepath.Join(filepath.Dir(description), "hang.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return description, pipe
}

// hangs waits for the process that hangs, and returns a channel that is closed when it is gone.
func hangs(t *testing.T, pipe string) (gone chan struct{}) {
	t.Helper()
	first, gone := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(gone)
		f, err := os.Open(pipe) // waits for a process that writes
		if err != nil {
			return
		}
		defer f.Close()
		r := bufio.NewReader(f)
		line, _ := r.ReadString('\n')
		first <- line
		_, _ = io.Copy(io.Discard, r)
	}()
	select {
	case line := <-first:
		t.Cleanup(func() {
			var pid int
			if _, err := fmt.Sscan(line, &pid); err == nil && t.Failed() {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
			}
		})
	case <-time.After(time.Minute):
		t.Fatal("the environment was not used within a minute")
	}
	return gone
}

func soon(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Errorf("%s not within 20 s", what)
	}
}

// What an environment has started is gone soon after a program that uses it was killed.
func TestKilledUser(t *testing.T) {
	path, pipe := hanging(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentVariable+"="+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := hangs(t, pipe)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	soon(t, "a process that hangs has ended", gone)
}

// An environment that is interrupted fails at once, and is not started again.
func TestInterrupt(t *testing.T) {
	path, pipe := hanging(t)
	d, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Load(d)
	if err != nil {
		t.Fatal(err)
	}
	env := start(t, p)
	failed := make(chan struct{})
	go func() {
		defer close(failed)
		env.Reset(rng.New(1, "env", 0))
	}()
	gone := hangs(t, pipe)
	env.(interface{ Interrupt() }).Interrupt()
	soon(t, "the environment has failed", failed)
	soon(t, "a process that hangs has ended", gone)
	if err := idrl.Err(env); err == nil || !strings.Contains(err.Error(), string(CodeExited)) || inner(env).starts != 1 {
		t.Errorf("it was started %d times, error %v", inner(env).starts, err)
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes are left: %v", left)
	}
}
