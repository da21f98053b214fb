// Package library reads and writes libraries: behaviours of one robot that a session
// shows first, in small text files.
package library
