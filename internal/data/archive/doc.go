// Package archive reads zip, tar and tar.gz files that come from outside: every path in them is local, every file a plain one, and all of it
// within limits that hold before anything is unpacked.
package archive
