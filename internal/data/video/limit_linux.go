package video

import (
	"errors"

	"golang.org/x/sys/unix"
)

// limit sets the limits of a process that was just started.
func limit(pid int) error {
	for what, most := range map[int]uint64{
		unix.RLIMIT_CPU: cpuSeconds, unix.RLIMIT_DATA: dataBytes, unix.RLIMIT_FSIZE: fileBytes, unix.RLIMIT_NOFILE: openFiles, unix.RLIMIT_CORE: 0,
	} {
		var now unix.Rlimit
		err := unix.Prlimit(pid, what, nil, &now)
		if err == nil {
			most = min(most, now.Max)
			err = unix.Prlimit(pid, what, &unix.Rlimit{Cur: most, Max: most}, nil)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
			return err
		}
	}
	return nil
}
