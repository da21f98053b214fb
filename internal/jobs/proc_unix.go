//go:build unix

package jobs

import "syscall"

// ownGroup puts a worker in a process group of its own, so that an interrupt
// from the terminal reaches the server alone, and LowerPriority every thread.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// LowerPriority makes this process yield to all others (nice 19), with all its
// threads.
func LowerPriority() error {
	if syscall.Getpgrp() != syscall.Getpid() {
		// Not started by a Pool: leave the others of the group alone. On Linux
		// this reaches the calling thread and those it starts.
		return syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19)
	}
	return syscall.Setpriority(syscall.PRIO_PGRP, 0, 19)
}
