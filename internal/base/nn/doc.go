// Package nn trains small dense networks in float32 on one core.
//
// A Net is the parameters, a Pass the activations and gradients of a batch, an
// Optimiser Adam's moments. A step of training allocates nothing, and the same
// seed gives the same bits on every processor.
package nn
