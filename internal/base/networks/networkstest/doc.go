// Package networkstest evaluates exported networks by the program in Python that
// docs/networks.md refers to.
package networkstest
