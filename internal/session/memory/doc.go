// Package memory is the record of one session in memory, for tests and for research.
package memory
