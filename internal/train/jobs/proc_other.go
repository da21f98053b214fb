//go:build !unix

package jobs

import "syscall"

func ownGroup() *syscall.SysProcAttr { return nil }

// lower does nothing on this system.
func lower(int, level) error { return nil }
