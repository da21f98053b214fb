package gemm

import "unsafe"

// best is NEON, which Go takes every arm64 to have.
func best() Path { return NEON }

// Paths returns the paths that this processor has.
func Paths() []Path { return []Path{Portable, NEON} }

// run calls the kernel for tiles of m rows; all have 16 columns.
func (t *tile) run(m, _ int) {
	switch m {
	case 6:
		multiply6(t)
	case 4:
		multiply4(t)
	case 2:
		multiply2(t)
	case 1:
		multiply1(t)
	}
}

// Peak does multiply-adds on registers, a few ns each round, and returns the
// number of floating-point operations: benchmarks compare products with it. On a
// path without vectors it does nothing.
func (path Path) Peak(rounds int) float64 {
	if path == Portable {
		return 0
	}
	peak(rounds)
	return float64(rounds) * 24 * 4 * 2
}

func vectorTiles(path Path, s *tiles) bool {
	if path == Portable {
		return false
	}
	transpose(&turn{
		tiles: s.n, columns: s.columns,
		from: unsafe.SliceData(s.from), fromRow: s.fromRow * size, fromTile: s.fromTile * size,
		to: unsafe.SliceData(s.to), toRow: s.toRow * size, toTile: s.toTile * size,
	})
	return true
}
