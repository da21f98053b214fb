package main

import (
	"os/exec"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitImport limits the memory of this process, and has it give way to others. Only the soft limit is lower: programs that it starts have limits of their own.
func limitImport() error {
	debug.SetMemoryLimit(importMemory / 2)
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &now); err != nil {
		return err
	}
	now.Cur = min(importMemory, now.Max)
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &now); err != nil {
		return err
	}
	return unix.Setpriority(unix.PRIO_PGRP, 0, 10)
}

// groupImport gives the process of an import a group of its own, so that its priority is that of what it starts, and not the server's.
func groupImport(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
