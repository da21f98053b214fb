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

const (
	size = 4 // bytes of an element

	// Assembly cannot be preempted: a call does at most about 2¹⁹ multiply-adds,
	// 10 to 40 µs. Also, 256 steps of 32 columns of B fit the first cache.
	maxWork  = 1 << 19
	maxSteps = 256
)

// Bits of tile.mode, in the order of the generator.
const (
	modeAdd = 1 << iota
	modeLeaky
	modeMask
)

// vector computes the product with kernels. The inner dimension is cut where C
// can hold the sums meanwhile: the chain of additions stays the same.
func (p *Product) vector(path Path) bool {
	if path == Portable {
		return false
	}
	for k := 0; k < p.K; {
		n := p.K - k
		if n > maxSteps*3/2 {
			n = maxSteps
		}
		p.columns(path, k, n)
		k += n
	}
	return true
}

// columns does steps k to k+n−1 for all columns.
func (p *Product) columns(path Path, k, n int) {
	t := tile{
		k: n, chunk: n,
		aRow: p.A.Row * size, aCol: p.A.Col * size,
		bRow: p.B.Row * size, bPanel: p.B.Panel * size,
		cRow: p.C.Row * size, cPanel: p.C.Panel * size,
		hRow: p.H.Row * size, hPanel: p.H.Panel * size,
		slope: p.Slope,
	}
	if p.A.Panel != Width*p.A.Col {
		t.chunk, t.aJump = Width, (p.A.Panel-Width*p.A.Col)*size
	}
	if p.Add || k > 0 {
		t.mode |= modeAdd
	}
	if k+n == p.K {
		t.mode |= [...]int{Store: 0, Leaky: modeLeaky, Mask: modeMask}[p.After]
	}
	for j := 0; j < p.N; {
		w := Width
		if path == AVX512 && p.N-j > Width {
			w = 2 * Width
		}
		p.rows(&t, k, j, w)
		j += w
	}
}

// rows does the steps of t from step k on for columns j to j+w−1.
func (p *Product) rows(t *tile, k, j, w int) {
	tall := 6
	if w > Width {
		tall = 8
	}
	for i := 0; i < p.M; {
		m := 1
		for _, rows := range [...]int{tall, 4, 2} {
			if p.M-i >= rows {
				m = rows
				break
			}
		}
		t.cDone, t.hDone = 0, 0
		t.blocks = min((p.M-i)/m, max(1, maxWork/(m*w*t.k)))
		next := i + m*t.blocks
		t.a = &p.A.Data[i*p.A.Row+k/Width*p.A.Panel]
		t.b = &p.B.Data[j/Width*p.B.Panel+k*p.B.Row]
		t.c = &p.C.Data[i*p.C.Row+j/Width*p.C.Panel]
		if p.After == Mask {
			t.h = &p.H.Data[i*p.H.Row+j/Width*p.H.Panel]
		}
		t.run(m, w)
		i = next
	}
}

// run calls the kernel for tiles of m×w elements.
func (t *tile) run(m, w int) {
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
	case Portable:
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

func vectorGather(path Path, to, from []float32, at *[edge]int32, rows int) bool {
	if path == Portable {
		return false
	}
	gather(rows, &to[0], &from[0], &at[0])
	return true
}

// maxElements is the number of elements that one call of adam or polyak takes.
const maxElements = 1 << 14

func (s *Step) vector(path Path, p, d, m, v []float32) bool {
	if path == Portable {
		return false
	}
	for i := 0; i < len(p); i += maxElements {
		adam(min(maxElements, len(p)-i), &p[i], &d[i], &m[i], &v[i], s.Beta1, s.Rest1, s.Beta2, s.Rest2, s.Rate, s.Eps, s.Decay)
	}
	return true
}

func vectorPolyak(path Path, p, from []float32, tau float32) bool {
	if path == Portable {
		return false
	}
	for i := 0; i < len(p); i += maxElements {
		polyak(min(maxElements, len(p)-i), &p[i], &from[i], tau)
	}
	return true
}

// vectorExp does as many elements as it can and returns how many.
func vectorExp(path Path, dst, x []float32) int {
	done := len(x) &^ 7
	if path == Portable {
		return 0
	}
	for i := 0; i < done; i += maxElements {
		exponential(min(maxElements, done-i), &dst[i], &x[i])
	}
	return done
}

// vectorSquash does as many elements as it can and returns how many.
func vectorSquash(path Path, a, slope, logSlope, u []float32) int {
	done := len(u) &^ 7
	if path == Portable {
		return 0
	}
	for i := 0; i < done; i += maxElements {
		squash(min(maxElements, done-i), &a[i], &slope[i], &logSlope[i], &u[i])
	}
	return done
}
