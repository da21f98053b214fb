// Package board has the code that environments on a few fields share: an agent moves from
// field to field, and the features say which field it entered.
//
// As in the tabular environments of the authors' code (docs/paper-code.md,
// section 1.1), an episode starts on any field with equal probability, has 100
// steps, and returns are discounted by 0.99 a step.
package board
