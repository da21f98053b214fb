// Package trainer builds generations: candidate policies from a belief, the
// clips that show them, and the questions that may be asked about the clips.
package trainer
