// Package byfolder carries messages between servers and workers by files in a folder that both reach, for example on
// NFS or Lustre. It needs neither a daemon nor a port.
//
// The folder has these entries:
//
//	tiebreak-workers.json         the format and its version
//	told/BOX/HASH-NUMBER-STREAM   what was told last under a subject
//	sent/BOX/HASH-NUMBER-STREAM   messages of a subject; the receiver deletes the file before it hands them over
//	blobs/HASH                    blobs, named by the SHA-256 of their bytes
//
// BOX is the first word of a subject, or "to.W" of what is for the worker W. A reader thereby lists one folder, however
// many subjects there are, and opens only files that are new. HASH is of the subject, which the file has. NUMBER counts
// the files of a subject, and STREAM is drawn at random by each sender.
//
// Files are written under a temporary name and renamed, and have a checksum. Neither times of files nor clocks of
// machines decide anything: a change is noticed by the name of a file, and each process measures ages by its own clock.
package byfolder
