//go:build !linux

package jobs

import "time"

// processorTime says that the processor time of a process is not known.
func processorTime(int) (used time.Duration, ok bool) { return 0, false }
