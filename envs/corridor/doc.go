// Package corridor is the geometry of the corridors of the paper: 13 cells in a
// row with walls around them, and the features of a step from one place to
// another. It has no physics; an environment that moves a robot brings its own.
//
// It follows the authors' code (docs/paper-code.md, section 1.6), in which the
// features hold the displacement of a step where the text has a velocity.
package corridor
