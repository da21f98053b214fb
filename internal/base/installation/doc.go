// Package installation judges a server before people are invited: facts about it come in, findings with what to do come out.
// It reads nothing by itself, and imports no other package.
package installation
