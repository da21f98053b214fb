package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// lockName is the file that lockFolder locks.
const lockName = "server.lock"

// makePrivate removes the rights of others from the files of dir, which may come from an earlier
// version or a copy, and makes the lock file with the right mode, because SQLite gives its journal
// the mode of the file. A user who can read the lock file could lock it and so keep the server from
// starting. A file of another owner stays as it is; Exposed names it.
func makePrivate(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("make the lock: %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	for _, name := range []string{FileName, lockName} {
		for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
			err := os.Chmod(filepath.Join(dir, name+suffix), 0o600)
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				return err
			}
		}
	}
	return nil
}

// Exposed returns which of dir and the database's files in it other users of the machine can open,
// for example a folder that was made by hand. It returns nothing on systems without such modes,
// like Windows, or if dir cannot be read.
func Exposed(dir string) (paths []string) {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, path := range []string{dir, filepath.Join(dir, FileName), filepath.Join(dir, lockName)} {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			paths = append(paths, path)
		}
	}
	return paths
}
