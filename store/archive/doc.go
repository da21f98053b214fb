// Package archive is a data folder as one file: a tar file that begins with a manifest, which holds
// the SHA-256 of every other file, and the versions of the program and of the database. It knows
// nothing of what the files hold.
package archive
