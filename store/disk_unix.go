//go:build linux || darwin

package store

import (
	"path/filepath"
	"syscall"
)

// freeSpace returns the bytes that this process may still write on the disk of dir.
// known is false if the system does not say.
func freeSpace(dir string) (free uint64, known bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}

// NetworkDisk returns the kind of network disk that dir, or the folder that it will be made in, is on; empty if that is none that is known.
// SQLite keeps the index of its log in memory that processes of one machine share, and relies on locks, which such disks do not give reliably.
func NetworkDisk(dir string) string {
	for {
		var st syscall.Statfs_t
		err := syscall.Statfs(dir, &st)
		parent := filepath.Dir(dir)
		if err == nil || parent == dir {
			return networkKind(&st)
		}
		dir = parent
	}
}

// SameDisk reports whether two folders are on one file system, and may be lost together. A folder that does not exist counts as
// the one that it will be made in.
func SameDisk(a, b string) bool { return device(a) == device(b) }

// device returns the number of the file system of dir.
func device(dir string) uint64 {
	for {
		var st syscall.Stat_t
		err := syscall.Stat(dir, &st)
		parent := filepath.Dir(dir)
		if err == nil || parent == dir {
			return uint64(st.Dev) //nolint:unconvert // another type on macOS
		}
		dir = parent
	}
}
