//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process has used.
func cpuTime() (time.Duration, error) {
	var r syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), err
}
