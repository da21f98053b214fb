// Package representationtest learns random Fourier features of the environment's features, a second
// representation for tests: a reward that is linear in them need not be linear in those
// of the environment.
package representationtest
