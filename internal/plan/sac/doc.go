// Package sac is soft actor-critic (Haarnoja et al., Soft actor-critic algorithms and
// applications, arXiv:1812.05905) for environments with continuous actions: twin critics
// with slow targets, a squashed Gaussian policy, and a temperature that is adapted to a
// target entropy. An Agent is stepped by one goroutine; it has no clock and does no I/O.
// Its reward is a function over batches, by which the replay can be relabelled.
package sac
