//go:build linux || darwin

package store

import "syscall"

// freeSpace returns the bytes that this process may still write on the disk of dir.
// known is false if the system does not say.
func freeSpace(dir string) (free uint64, known bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}
