// Package posterior computes the posterior of a session as a function of the ordered list of
// its effective answers. It does not depend on withdrawn answers, restarts, or the speed of
// the machine.
//
// One-by-one updates drift from the exact posterior, by more than a standard deviation
// in a few hundred answers, and do so in a way that depends on the order of the
// answers. So at fixed positions of the list all answers before it are fitted at once
// (RewardModel.Fit), and the answers since then are taken in one by one. See plan for the
// positions.
package posterior
