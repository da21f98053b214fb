//go:build !linux

package elsewhere

// Memory returns the memory of this machine in MiB: 0, for it is not known on this system.
func Memory() int64 { return 0 }
