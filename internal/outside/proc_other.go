//go:build !unix

package outside

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

// killGroup ends a process.
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
