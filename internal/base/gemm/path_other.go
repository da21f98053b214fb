//go:build !amd64 && !arm64

package gemm

func best() Path { return Portable }

// Paths returns the paths that this processor has.
func Paths() []Path { return []Path{Portable} }

// Peak does nothing: this processor has no path with vectors.
func (path Path) Peak(int) float64 { return 0 }

func (p *Product) vector(Path) bool { return false }

func vectorTiles(Path, *tiles) bool { return false }

func (s *Step) vector(_ Path, _, _, _, _ []float32) bool { return false }

func vectorPolyak(_ Path, _, _ []float32, _ float32) bool { return false }

func vectorExp(_ Path, _, _ []float32) int { return 0 }

func vectorSquash(_ Path, _, _, _, _ []float32) int { return 0 }

func vectorGather(Path, []float32, []float32, *[edge]int32, int) bool { return false }
