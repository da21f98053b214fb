//go:build !linux && !darwin

package store

// freeSpace returns the bytes that this process may still write on the disk of dir. known is false:
// it is not implemented for this system.
func freeSpace(string) (free uint64, known bool) { return 0, false }

// NetworkDisk returns an empty string: which kinds of disks there are is known for Linux and macOS.
func NetworkDisk(string) string { return "" }

// SameDisk returns true: whether two folders are on different file systems is known for Linux and macOS.
func SameDisk(string, string) bool { return true }
