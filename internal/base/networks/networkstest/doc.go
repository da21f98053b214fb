// Package networkstest evaluates exported networks by the program in Python that
// docs/datasets.md refers to.
package networkstest
