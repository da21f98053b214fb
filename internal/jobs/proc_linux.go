package jobs

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// idle lets the threads of this process run only where no other process wants to
// (SCHED_IDLE). Being nice is not enough: a thread of the server that wakes up would
// still wait for the end of a worker's time slice. Threads that start later do as
// those that start them.
func idle() error {
	for done := map[int]bool{}; ; {
		before := len(done)
		threads, err := os.ReadDir("/proc/self/task")
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
