// Package sequential finds which of several entrants people prefer to every other one, by comparisons of two
// at a time, and keeps its guarantee however often its result is looked at.
//
// The winner is the entrant that is preferred to each other one in more than half of the decisive comparisons
// (the Condorcet winner; there is none among equals, or where preferences go in a circle). With n entrants
// each ordered pair has a test of its own at level 0.05/n of 'the first is not preferred', and an entrant that passes all of its tests
// is called the winner; entrants that look the same need not be compared. A false winner has passed a test whose hypothesis is true: where a winner exists, that
// against it, else one of n. So a false winner is called in at most 5 of 100 cases, whatever pair is asked about next
// and whenever one stops (union bound).
//
// The test of a pair looks after each decisive answer and spends the share s of its level as s², of the share s of the test that
// is over: each look may use what the level allows by then (power family of spending functions; the boundary is exact for the
// binomial distribution). The test ends after N decisive answers, or 2N of which some say 'equal'. N is 1.1 times the number of
// decisive answers that a test with one look needs to find a preference of the planned size with a probability of 0.95.
//
// Enters: entrants, the planned size, answers in their order. Leaves: the winner, who else may be it, the next pair, how many answers
// are left. It never reads a log and knows nothing of people.
//
// Sources: K. Kim and D. L. DeMets, "Design and analysis of group sequential tests based on the type I error spending
// rate function", Biometrika 74, 1987; D. Snyder et al., "Is your imitation learning policy better than mine? Policy
// comparison with near-optimal stopping", RSS 2025 (arXiv 2503.10966), for exact sequential tests of few trials; H. Robbins, "Statistical methods
// related to the law of the iterated logarithm", Annals of Mathematical Statistics 41, 1970, for Interval; M. Zoghi et al., "Relative upper
// confidence bound for the K-armed dueling bandit problem", ICML 2014, for asking about a leader and its challenger.
package sequential
