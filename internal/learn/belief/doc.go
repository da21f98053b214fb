// Package belief holds posteriors of the reward weights θ: Gaussians with exact rank-one
// updates, the likelihoods of answers, and reward models that update the one by the other.
//
// A Gaussian process on a finite set of states is such a Gaussian, with one-hot features
// and the kernel matrix as prior covariance.
package belief
