// Package must ends a test at the first error that it did not expect.
package must
