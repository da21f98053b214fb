// Command arm64 writes the assembly of package gemm for arm64:
//
//	go -C internal/base/gemm/gen run ./arm64 -out ../kernels_arm64.s
package main
