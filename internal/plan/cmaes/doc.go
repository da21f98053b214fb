// Package cmaes maximises a function of up to some hundred numbers by the evolution
// strategy with covariance matrix adaptation (CMA-ES), without gradients. The caller
// asks for candidates and tells their values, so that it decides when, where and how
// often they are evaluated, and what the function is in the next generation.
package cmaes
