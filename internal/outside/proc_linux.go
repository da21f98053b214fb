package outside

import "syscall"

// ownGroup puts a process in a group of its own, so that it is ended with all that it
// started, and has the system end it when this program is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
