// Package chain is the Chain of the paper: fields in a row, through the first
// of which the agent is carried to the right; on the others it chooses its way.
//
// It follows the authors' code (docs/paper-code.md, section 1.2), with other
// random numbers.
package chain
