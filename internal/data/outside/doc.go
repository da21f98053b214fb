// Package outside runs environments that are programs of their own, in any language: JSON
// lines over the standard input and output of a child process, or over a socket of this
// machine. docs/outside.md describes the protocol. What such a program does wrong, from
// nonsense to silence, becomes an error with a code (Error): it never panics or hangs its
// user, and never gets a number that is not finite to a learner.
package outside
