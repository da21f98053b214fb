// Package byflags has the flags of commands for workers on other machines: carriers, a worker, and a pool that workers join.
package byflags
