//go:build !linux

package store

// NetworkDisk returns nothing: it is not implemented for this system.
func NetworkDisk(string) string { return "" }
