//go:build !unix

package main

import (
	"time"

	"tiebreak/internal/idrl"
)

// cpuTime is not known on this system.
func cpuTime() (time.Duration, error) {
	return 0, idrl.Errorf(idrl.Unavailable, "lessons are timed by the processor time of this process, which this system does not tell: use Linux or macOS")
}
