//go:build !linux

package outside

// canLaunch reports whether Launch works on this system.
const canLaunch = false

// Launch returns an exit status that says that there are no launchers on this system.
func Launch([]string) int { return 126 }
