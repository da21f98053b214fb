package gemm

// Width is the number of columns of a panel.
const Width = 16

// Left is the left factor of a product, M×K: element (i, k) is
// Data[i*Row + k%16*Col + k/16*Panel].
type Left struct {
	Data            []float32
	Row, Col, Panel int
}

// Rows returns a row-major matrix with ld elements a row as a left factor.
func Rows(data []float32, ld int) Left { return Left{data, ld, 1, Width} }

// Columns returns the transpose of a row-major matrix with ld elements a row as
// a left factor.
func Columns(data []float32, ld int) Left { return Left{data, 1, ld, Width * ld} }

// Panels is a matrix whose columns lie in groups of 16: element (i, j) is
// Data[i*Row + j/16*Panel + j%16]. A row-major matrix with ld elements a row has
// Row = ld and Panel = 16.
type Panels struct {
	Data       []float32
	Row, Panel int
}

// Packed returns panels of rows×16 elements, one after another.
func Packed(data []float32, rows int) Panels { return Panels{data, Width, Width * rows} }

// Left returns p as a left factor.
func (p Panels) Left() Left { return Left{p.Data, p.Row, 1, p.Panel} }

// After is an operation on the elements of C before they are stored.
type After int

const (
	Store After = iota // nothing
	Leaky              // x ↦ x if x > 0, else Slope·x
	Mask               // x ↦ x if the element of H is positive, else Slope·x
)

// Product is C = A·B or, with Add, C += A·B. A is M×K, B is K×N and C is M×N; N
// is a multiple of 16. C must not overlap A or B.
type Product struct {
	M, N, K int
	A       Left
	B, C    Panels
	Add     bool
	After   After
	Slope   float32 // of Leaky and Mask, in [0, 1]
	H       Panels  // of Mask, M×N
}

// Mul computes a product. NaN and infinities propagate as in IEEE 754.
func (path Path) Mul(p *Product) {
	if p.N%Width != 0 {
		panic("gemm: the number of columns is not a multiple of 16")
	}
	p.check()
	if !p.vector(path) {
		p.portable()
	}
}

// blockRows is the number of columns that AddOuter transposes at a time, so that
// their transpose stays in the cache.
const blockRows = 256

// OuterWork is the length of AddOuter's work space for B of n rows and k columns.
func OuterWork(n, k int) int { return n * min(k, blockRows) }

// AddOuter computes C += A·Bᵀ, where A is M×K and B is N×K, both in panels; N is a
// multiple of 16, and work has the length OuterWork(N, K rounded up to a multiple
// of 16).
func (path Path) AddOuter(m, n, k int, a, b, c Panels, work []float32) {
	p := Product{M: m, N: n, A: a.Left(), C: c, Add: true}
	for i := 0; i < k; i += blockRows {
		p.K = min(blockRows, k-i)
		p.A.Data, b.Data = a.Data[i/Width*a.Panel:], b.Data[min(i, 1)*blockRows/Width*b.Panel:]
		rows := (p.K + Width - 1) / Width * Width
		p.B = Packed(work, rows)
		path.Transpose(p.B, b, n, rows)
		path.Mul(&p)
	}
}

// check panics if a matrix is shorter than its shape says.
func (p *Product) check() {
	last, panel := p.N/Width-1, p.K/Width
	_ = p.A.Data[(p.M-1)*p.A.Row+max(0, panel-1)*p.A.Panel+min(p.K, Width)*p.A.Col-p.A.Col]
	if rest := p.K % Width; rest > 0 {
		_ = p.A.Data[(p.M-1)*p.A.Row+panel*p.A.Panel+(rest-1)*p.A.Col]
	}
	p.B.check(p.K, last)
	p.C.check(p.M, last)
	if p.After == Mask {
		p.H.check(p.M, last)
	}
}

func (p Panels) check(rows, panel int) { _ = p.Data[(rows-1)*p.Row+panel*p.Panel+Width-1] }
