package gemm

// Path is a way to compute: the instructions that are used. All give the same
// bits.
type Path int

const (
	Portable Path = iota // Go code, on every processor
	AVX2                 // AVX2 and FMA
	AVX512               // AVX-512 F, else AVX2
	NEON                 // Advanced SIMD of arm64
)

// String returns the path's name.
func (path Path) String() string { return [...]string{"portable", "AVX2", "AVX-512", "NEON"}[path] }

// Best is the fastest path of this processor.
var Best = best()
