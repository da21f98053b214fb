// Package nn trains small dense networks in float32 on one core.
//
// A Net is the parameters, a Pass the activations and gradients of a batch, an
// Optimiser Adam's moments. A step of training allocates nothing, and the same
// seed gives the same bits on every processor.
//
// Products run on kernels of package gemm: AVX2 or AVX-512 on amd64, NEON on arm64.
// A forward pass on arm64 takes 0.4 instructions a multiply-add with NEON, and 34 in
// portable Go. The bits there are tested under QEMU (task test:arm64); the speed was not
// measured, as no such machine was at hand.
package nn
