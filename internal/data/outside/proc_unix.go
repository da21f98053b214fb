//go:build unix

package outside

import (
	"io"
	"os/exec"
	"syscall"
)

// killGroup ends all processes of the group of a process. Where none is left it does nothing.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// A guard is a shell that leads a group of processes. It waits for the end of a pipe, which
// comes when this program has ended, also if it was killed, and then ends the group: the
// system can do that with a child alone, and not with those that the child started.
//
// Until it is waited for, no other group has its number. The nil guard guards nothing.
type guard struct {
	cmd  *exec.Cmd
	pipe io.Closer // held by this program alone
}

// watch ends the group of the shell after the end of its input. A program that sends a signal
// to its own group does not end it.
const watch = `trap "" HUP INT TERM; read -r line; kill -KILL 0`

// newGuard returns a guard, nil on systems without a shell.
func newGuard() *guard {
	g := &guard{cmd: exec.Command("/bin/sh", "-c", watch)}
	g.cmd.Dir, g.cmd.Env, g.cmd.SysProcAttr = "/", []string{}, &syscall.SysProcAttr{Setpgid: true}
	pipe, err := g.cmd.StdinPipe()
	if err != nil {
		return nil
	}
	if g.pipe = pipe; g.cmd.Start() != nil {
		return nil
	}
	return g
}

// group returns the number of the group, 0 for nil.
func (g *guard) group() int {
	if g == nil {
		return 0
	}
	return g.cmd.Process.Pid
}

// end ends the group and waits for the guard.
func (g *guard) end() {
	if g == nil {
		return
	}
	killGroup(g.group())
	g.pipe.Close()
	_ = g.cmd.Wait() // it was killed
}
