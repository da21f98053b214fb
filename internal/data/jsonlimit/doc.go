// Package jsonlimit bounds the arrays of a JSON text before it is decoded: an element of two bytes may
// become a struct of hundreds, so that a limit on bytes does not limit memory.
package jsonlimit
