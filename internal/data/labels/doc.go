// Package labels reads comparisons of segments that others have released with their data sets, as
// Uni-RLHF and Preference Transformer do: three arrays that are joined by position (docs/rollouts.md).
package labels
