//go:build amd64 || arm64

package gemm

const (
	size = 4 // bytes of an element

	// Assembly cannot be preempted: a call does at most about 2¹⁹ multiply-adds,
	// 10 to 40 µs on amd64. Also, 256 steps of 32 columns of B fit the first cache.
	maxWork  = 1 << 19
	maxSteps = 256
)

// Bits of tile.mode, in the order of the generators.
const (
	modeAdd = 1 << iota
	modeLeaky
	modeMask
)

// tile is the argument of the multiply kernels. Strides are in bytes. The kernels
// change no pointer in it, because the garbage collector may see it. Those of amd64
// count blocks down, and cDone and hDone up from zero; their generator knows the
// order of the fields, each of 8 bytes.
type tile struct {
	blocks, k, chunk  int // tiles, one below the other; steps; steps until A jumps
	a                 *float32
	aRow, aCol, aJump int
	b                 *float32
	bRow, bPanel      int
	c                 *float32
	cRow, cPanel      int
	h                 *float32
	hRow, hPanel      int
	mode              int
	slope             float32
	_                 float32
	cDone, hDone      int // bytes from c and h to the tile at work
}

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
