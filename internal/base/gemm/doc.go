// Package gemm multiplies small float32 matrices.
//
// Every element of a product is one chain of fused multiply-adds, over the inner
// dimension in ascending order. So its bits depend neither on the instruction
// set nor on how a product is cut into tiles or shared between goroutines.
package gemm
