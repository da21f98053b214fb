//go:build !unix

package jobs

import "syscall"

func ownGroup() *syscall.SysProcAttr { return nil }

// LowerPriority does nothing on this system: a worker has one processor to
// itself at most.
func LowerPriority() error { return nil }
