// Package librarian makes libraries: behaviours of a robot that differ from one another in
// the picture, so that a session has something to ask about from its first second.
package librarian
