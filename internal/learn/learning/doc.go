// Package learning is the learner of Algorithm 1 of the paper (Lindner et al., 2021,
// label "algorithm"): the posterior P(θ|D), the policies that are known, the choice of
// a query, the update, the recommended policy and what stopping would cost. Sessions
// with people and experiments with simulated experts both use it; what they add is
// people, leases and durability on one side, and worlds, experts and statistics on the
// other.
//
// A Learner is a value machine: it has no clock, no goroutine and no I/O, and its
// random numbers are those of streams that it is given.
package learning
