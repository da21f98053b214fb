// Package stopping says when a session may stop, and about how many answers are left
// until then.
//
// After each answer that counts, a session states P, the probability that the best
// policy found loses at most a share ε of the span (package regret). It may stop when
// P ≥ 1 − δ has held after three such answers in a row: one statement alone is above
// the line by chance now and then, and the more often one looks the likelier that is.
// An objection to the statement (stopping.Objection) keeps it from stopping.
// docs/dashboard.md has how often the rule is right.
package stopping
