// Command gen writes the assembly of package gemm for amd64:
//
//	go -C internal/base/gemm/gen run . -out ../kernels_amd64.s
//
// It is a module of its own, so that the program does not depend on avo.
package main
