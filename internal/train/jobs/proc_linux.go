package jobs

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// idle lets the threads of a process run only where no other process wants to
// (SCHED_IDLE). Being nice is not enough: a thread of the server that wakes up would
// still wait for the end of a worker's time slice. Threads that start later do as
// those that start them.
func idle(pid int) error {
	for done := map[int]bool{}; ; {
		before := len(done)
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return err
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return err
			}
			if done[id] {
				continue
			}
			done[id] = true
			err = unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
			if err != nil && !errors.Is(err, syscall.ESRCH) { // that thread has ended
				return fmt.Errorf("scheduling of thread %d: %w", id, err)
			}
		}
		if len(done) == before {
			return nil // none was started meanwhile
		}
	}
}

// processorTime returns the processor time that a process has used; ok is false if that is
// not known.
func processorTime(pid int) (used time.Duration, ok bool) {
	var t unix.Timespec
	clock := int32(^pid<<3 | 2) // CPUCLOCK_SCHED of the process, as in clock_getcpuclockid(3)
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
