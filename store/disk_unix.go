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
