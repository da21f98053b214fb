package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// keptClock returns what the kernel says of its clock: whether a program keeps it right, and within which error (adjtimex(2)).
// It does not use the network.
func keptClock() (kept bool, within time.Duration, known bool) {
	var t unix.Timex // modes 0: only read
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return false, 0, false
	}
	return state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0, time.Duration(t.Maxerror) * time.Microsecond, true
}
