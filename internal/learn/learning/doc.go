// Package learning is the learner of Algorithm 1 of the paper (Lindner et al., 2021,
// label "algorithm"): the posterior P(θ|D), the known policies, the choice of a query, the
// update, the recommended policy and the regret of stopping. Sessions with people and
// experiments with simulated experts both use it. Sessions add people, leases and
// durability; experiments add instances, experts and statistics.
//
// A Learner has no clock, no goroutine and no I/O, and its random numbers come from streams
// that it is given.
package learning
