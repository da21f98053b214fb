// Faultdisk is a disk in memory, for tests, that loses what was not synced when it is cut off, and whose writes and syncs fail when it
// is told so. It is mounted at the folder that its only argument names, by FUSE, which needs Linux, /dev/fuse and the right to mount.
//
// It reads commands from its standard input, one a line, and answers each with a line: "ok", or "error" and why.
//
//	cut SEED SHARE      the power is cut and comes back: the folder is mounted again with what was synced, and with SHARE (0 to 1)
//	                    of what was not, by chance. Answers "ok N": N pages of files that were not synced are gone.
//	lie on|off          syncs succeed and do nothing
//	fail write|sync|no  writes or syncs fail with an input/output error, or do not. A page whose sync failed counts as written, as under
//	                    Linux: it is lost at the next cut unless it is written and synced again.
//	room BYTES|all      files can grow by no more than so many bytes
//
// A sync takes as long as a disk's. It makes all changes of names durable, also those of other folders, as file systems with a journal do.
package main
