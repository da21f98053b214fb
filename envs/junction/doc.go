// Package junction is the Junction of the paper: a corridor through which the
// agent is carried to a fork; there it chooses one of two branches, in which it
// then walks at random for ever.
//
// It follows the authors' code (docs/paper-code.md, section 1.3), with other
// random numbers.
package junction
