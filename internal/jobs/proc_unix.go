//go:build unix

package jobs

import "syscall"

// ownGroup puts a worker in a process group of its own, so that an interrupt
// from the terminal reaches the server alone, and LowerPriority every thread.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// LowerPriority makes this process yield to all others, with all its threads: it is
// nice (19), and on Linux idle too.
func LowerPriority() error {
	if syscall.Getpgrp() != syscall.Getpid() {
		// Not started by a Pool: leave the others of the group alone. On Linux
		// this reaches the calling thread and those it starts.
		return syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19)
	}
	if err := syscall.Setpriority(syscall.PRIO_PGRP, 0, 19); err != nil {
		return err
	}
	return idle()
}
