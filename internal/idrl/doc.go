// Package idrl defines the vocabulary of Tiebreak: environments, trajectories,
// clips, queries, answers, posteriors, acquisition functions, candidate
// policies, sessions, and the small interfaces that join them. Implementations
// live in the other rooms, which all know this package; it knows none of them.
//
// # Symbols
//
//	d        feature dimension, EnvSpec.FeatureDim()
//	φ(s,a)   features of one step, length d
//	θ        reward weights, length d; the reward of a step is θ·φ(s,a)
//	μ_π      feature expectation of policy π, length d; its return is G(π) = θ·μ_π
//	x        a linear functional of θ, length d (a query or a difference μ_i − μ_j)
//	u        θ·x, what an answer speaks of; under a belief u ~ N(m, v)
//	Z(y)     predictive probability (or density) of the answer y
//	w        information factor of a query, E_y[(∂ log Z/∂m)²]
//
// Rewards are dimensionless. A name ending in Var is a variance and a name
// ending in Std is its square root. No name is sigma.
//
// The method is Information Directed Reward Learning (Lindner, Turchetta,
// Tschiatschek, Ciosek, Krause, NeurIPS 2021), "the paper" in comments.
package idrl
