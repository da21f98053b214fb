package gemm

// turn is the argument of the transpose kernel. Strides are in bytes.
type turn struct {
	tiles, columns    int
	from              *float32
	fromRow, fromTile int
	to                *float32
	toRow, toTile     int
}

// The kernels are in kernels_arm64.s, which package gen/arm64 writes. A multiply
// kernel computes t.blocks tiles of a product, with as many rows as its name says
// and 16 columns.

//go:noescape
func multiply6(t *tile)

//go:noescape
func multiply4(t *tile)

//go:noescape
func multiply2(t *tile)

//go:noescape
func multiply1(t *tile)

// peak does 24 independent multiply-adds of vectors, loops times.
//
//go:noescape
func peak(loops int)
