package store

// Unrecorded returns the tables that no copy of a session has.
func Unrecorded() []string { return unrecorded }

// Rescue is the command line that a damaged database is answered with.
const Rescue = rescue
