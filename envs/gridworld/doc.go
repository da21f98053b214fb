// Package gridworld is the Gridworld of the paper: an agent on a floor of 10×10
// cells with walls and objects. The reward depends on the type of the cell that
// it enters.
//
// It follows the authors' code (docs/paper-code.md, section 1.4), with other
// random numbers.
package gridworld
