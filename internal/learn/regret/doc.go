// Package regret states the cost of stopping a session now: the loss of the recommended
// policy relative to the best known one, for weights θ drawn from the posterior.
//
// With 𝒦 the known policies, μ_j their feature expectations, and L the one of them
// with the highest mean return, each draw θ_n gives
//
//	R_n = max_𝒦 θ_n·μ − θ_n·μ_L ≥ 0   the loss of L
//	S_n = max_𝒦 θ_n·μ − min_𝒦 θ_n·μ   the span, from the worst to the best
//
// and the statement is about the shares R_n/S_n, because answers to comparisons do not
// determine the scale of a return. Scaling θ, or adding a constant to all returns, changes
// no share. If S_n = 0 all policies are equally good, and the share is 0.
package regret
