package elsewhere

import "golang.org/x/sys/unix"

// Memory returns the memory of this machine in MiB, 0 if that is not known.
func Memory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit) >> 20 //nolint:gosec,unconvert // far below 2^63; Totalram has 32 bits on some processors
}
