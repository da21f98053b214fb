package jobs_test

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func init() {
	scheduling = func() string {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err.Error()
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return err.Error()
			}
			if a, err := unix.SchedGetAttr(id, 0); err != nil || a.Policy != unix.SCHED_IDLE {
				return fmt.Sprintf(", thread %d: %+v, %v", id, a, err)
			}
		}
		return ", every thread idle"
	}
}
