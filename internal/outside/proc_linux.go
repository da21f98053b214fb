package outside

import "syscall"

// inGroup puts a process in a group, 0 for one of its own, so that it is ended with all that it
// started, and has the system end it when this program is killed, also where there is no guard.
func inGroup(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group, Pdeathsig: syscall.SIGKILL}
}
