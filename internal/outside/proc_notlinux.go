//go:build unix && !linux

package outside

import "syscall"

// ownGroup puts a process in a group of its own, so that it is ended with all that it started.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
