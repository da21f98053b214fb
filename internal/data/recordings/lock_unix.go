//go:build unix

package recordings

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockName is the file by which a process has a folder for itself. The system lets go of it when the process ends, however.
const lockName = ".lock"

// lockFolder makes a folder this process's until unlock. It returns an error if another one has it.
func lockFolder(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil { //nolint:gosec // small
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
