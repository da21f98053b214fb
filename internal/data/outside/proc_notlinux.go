//go:build unix && !linux

package outside

import "syscall"

// inGroup puts a process in a group, 0 for one of its own, so that it is ended with all that it
// started.
func inGroup(group int, _ bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group}
}
