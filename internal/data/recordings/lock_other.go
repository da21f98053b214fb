//go:build !unix

package recordings

import (
	"os"
	"path/filepath"
)

// lockName is the file by which a process has a folder for itself.
const lockName = ".lock"

// lockFolder writes the file; here it keeps no other process out.
func lockFolder(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return func() {}, f.Close()
}
