// Package acquisition values queries, to choose the next question. Every acquisition
// function is computed from one Table of products; Select breaks ties with a stream of the
// caller.
//
// The symbols are those of package idrl. Further ones, under the belief N(μ, Σ):
//
//	x_q, m_q, v_q  functional of query q, mean and variance of u = θ·x_q
//	w_q            information factor of q (idrl.Likelihood.Info)
//	α_y            ∂ log Z(y)/∂m, by which an answer y moves μ by α_y Σx_q
//	a_i            mean return μ·μ_i of policy i
//	L              the leader, the policy with the highest mean return
//	g_iq           Cov(return of policy i, u)
//	s_i            standard deviation of the difference of the returns of i and L
package acquisition
