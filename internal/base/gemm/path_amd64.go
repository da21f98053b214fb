package gemm

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// best is chosen at the start of the program. GODEBUG=cpu.avx512f=off and
// GODEBUG=cpu.avx2=off choose a slower path.
func best() Path {
	switch x := cpu.X86; {
	case !x.HasAVX2 || !x.HasFMA:
		return Portable
	case x.HasAVX512F:
		return AVX512
	}
	return AVX2
}

// Paths returns the paths that this processor has.
func Paths() []Path { return []Path{Portable, AVX2, AVX512}[:Best+1] }

// run calls the kernel for tiles of m×w elements.
func (t *tile) run(m, w int) {
	t.cDone, t.hDone = 0, 0
	switch m + w {
	case 8 + 2*Width:
		multiply512_8(t)
	case 4 + 2*Width:
		multiply512_4(t)
	case 2 + 2*Width:
		multiply512_2(t)
	case 1 + 2*Width:
		multiply512_1(t)
	case 6 + Width:
		multiply256_6(t)
	case 4 + Width:
		multiply256_4(t)
	case 2 + Width:
		multiply256_2(t)
	case 1 + Width:
		multiply256_1(t)
	}
}

// Peak does multiply-adds on registers, about 1 ns each round, and returns the
// number of floating-point operations: benchmarks compare products with it. On a
// path without vectors it does nothing.
func (path Path) Peak(rounds int) float64 {
	switch path {
	case Portable, NEON:
	case AVX2:
		peak256(rounds)
		return float64(rounds) * 10 * 8 * 2
	case AVX512:
		peak512(rounds)
		return float64(rounds) * 10 * 16 * 2
	}
	return 0
}

// masks has 8 times −1, then 8 times 0: the 8 values from 8−n on select n places.
var masks = [16]int32{-1, -1, -1, -1, -1, -1, -1, -1}

func vectorTiles(path Path, s *tiles) bool {
	if path == Portable {
		return false
	}
	transpose(&turn{
		tiles: s.n, columns: s.columns, mask: &masks[8-s.columns],
		from: unsafe.SliceData(s.from), fromRow: s.fromRow * size, fromTile: s.fromTile * size,
		to: unsafe.SliceData(s.to), toRow: s.toRow * size, toTile: s.toTile * size,
	})
	return true
}
