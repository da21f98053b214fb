//go:build !unix

package main

import (
	"time"

	"tiebreak/internal/idrl"
)

// cpuTime is not known on this system.
func cpuTime() (time.Duration, error) {
	return 0, idrl.Errorf(idrl.Unavailable, "lessons need the processor time of this process, which this system does not report: use Linux or macOS")
}
