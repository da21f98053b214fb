package belief

import "gonum.org/v1/gonum/mat"

// A FeatureKernel is an environment whose features are one-hot (object types,
// states), with a prior similarity between them: a Gaussian process on a finite
// set is a Gaussian over weights with the kernel matrix as prior covariance.
type FeatureKernel interface {
	// Kernel stores in dst (d×d) the prior correlation of the weights of every
	// two features; the diagonal is 1 and dst is positive definite.
	Kernel(dst *mat.SymDense)
}
