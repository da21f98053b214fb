// Package command runs the commands of a program: it finds the one that the command line names,
// prints its help, stops it at a signal, and says by the exit status how it ended.
//
// The command line and the commands of a program enter; what they print, progress lines and an
// exit status leave. It knows of no command but "version".
package command
