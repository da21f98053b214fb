// Package belief holds what is believed of the reward weights θ: a Gaussian
// with exact rank-one updates, the likelihoods of the answers, and the model
// that joins the two.
//
// A Gaussian process on a finite set of states is the same thing with one-hot
// features and the kernel matrix as prior covariance.
package belief
