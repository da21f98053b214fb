//go:build !linux

package main

import (
	"os/exec"
	"runtime/debug"
)

// limitImport asks for little memory; here the system keeps no limit.
func limitImport() error {
	debug.SetMemoryLimit(importMemory / 2)
	return nil
}

// groupImport leaves the process of an import as it is.
func groupImport(*exec.Cmd) {}
