//go:build !unix

package byfolder_test

import "os"

func fifo(path string) error { return os.Mkdir(path, 0o700) } // there are no FIFOs
