// Package bradley estimates the strengths of entrants from comparisons of two of them at a
// time, which may end in ties: the model of Bradley and Terry with the ties of Davidson.
//
// With strengths s and a propensity η to say 'equal', the probabilities of the three answers
// to a comparison of i and j are proportional to
//
//	i preferred: exp(s_i)    j preferred: exp(s_j)    equal: exp(η + (s_i + s_j)/2)
//
// so that, when one of the two is preferred, it is i with probability 1/(1 + exp(s_j − s_i)),
// whatever η is. Only differences of strengths mean anything: their sum is held at 0. The
// logarithm of the likelihood is concave in (s, η).
//
// Sources: R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs",
// Biometrika 39, 1952; R. R. Davidson, "On extending the Bradley-Terry model to accommodate
// ties in paired comparison experiments", JASA 65, 1970; D. R. Hunter, "MM algorithms for
// generalized Bradley-Terry models", Annals of Statistics 32, 2004.
package bradley
