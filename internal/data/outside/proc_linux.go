package outside

import "syscall"

// inGroup puts a process in a group, 0 for one of its own, so that it is ended with all that it
// started, and has the system end it when this program is killed, also where there is no guard; but
// not a launcher, which ends others first.
func inGroup(group int, launcher bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	if !launcher {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}
