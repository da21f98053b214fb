package store

// Unrecorded returns the tables that no copy of a session has.
func Unrecorded() []string { return unrecorded }
