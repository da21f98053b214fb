// Package stopping decides when a session may stop, and forecasts the number of answers
// until then.
//
// After each answer that counts, a session states P, the probability that the best
// policy found loses at most a share ε of the span (package regret). It may stop when
// P ≥ 1 − δ has held after three such answers in a row: a single statement may meet the
// rule by chance, and does so sooner or later if it is repeated. A session does not stop
// while there is an objection to the statement (Objection). docs/dashboard.md says how often
// the rule is right.
package stopping
