// Package quality sums up how annotators answer: speed, sides, and agreement
// with the belief.
package quality
