//go:build unix

package jobs

import "syscall"

// ownGroup puts a worker in a process group of its own, so that an interrupt
// from the terminal reaches the server alone, and lower every thread.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lower gives the worker process with that id, with all its threads, the priority of a level.
func lower(pid int, to level) error {
	switch to {
	case normal:
		return nil
	case nice:
		return syscall.Setpriority(syscall.PRIO_PGRP, pid, 5)
	default:
		if err := syscall.Setpriority(syscall.PRIO_PGRP, pid, 19); err != nil {
			return err
		}
		return idle(pid)
	}
}
