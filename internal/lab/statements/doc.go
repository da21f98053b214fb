// Package statements compares what sessions state of themselves with the truth: whether the true
// regret is within the bound that the page states, whether a loss that is called small is small,
// and whether sessions that say "you can stop" are right. The people who answer are as the session
// assumes, or otherwise in one respect.
package statements
