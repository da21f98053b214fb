// Package regret says what it would cost to stop a session now: how far the best
// policy found may fall behind the best one known, for weights θ drawn from the
// posterior.
//
// With 𝒦 the known policies, μ_j their feature expectations, and L the one of them
// with the highest mean return, each draw θ_n gives
//
//	R_n = max_𝒦 θ_n·μ − θ_n·μ_L ≥ 0   what is lost by taking L
//	S_n = max_𝒦 θ_n·μ − min_𝒦 θ_n·μ   the span, from the worst to the best
//
// and the statement is about the shares R_n/S_n, because answers to comparisons do
// not fix the scale of a return. Adding θ to a constant, or scaling it, changes no
// share. Where S_n = 0 all policies are equally good, and the share is 0.
package regret
