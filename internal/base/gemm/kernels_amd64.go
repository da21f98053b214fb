package gemm

// turn is the argument of the transpose kernel. Strides are in bytes. The
// generator knows the order of the fields, each of 8 bytes.
type turn struct {
	tiles, columns    int
	mask              *int32 // 8 values, the first columns of them −1 and the rest 0
	from              *float32
	fromRow, fromTile int
	to                *float32
	toRow, toTile     int
}

// The kernels are in kernels_amd64.s, which package gen writes. A multiply kernel
// computes t.blocks tiles of a product, with as many rows as its name says and 32
// columns with vectors of 512 bits, 16 with 256.

//go:noescape
func multiply512_8(t *tile)

//go:noescape
func multiply512_4(t *tile)

//go:noescape
func multiply512_2(t *tile)

//go:noescape
func multiply512_1(t *tile)

//go:noescape
func multiply256_6(t *tile)

//go:noescape
func multiply256_4(t *tile)

//go:noescape
func multiply256_2(t *tile)

//go:noescape
func multiply256_1(t *tile)

// peak512 and peak256 do 10 independent multiply-adds of vectors, loops times.
//
//go:noescape
func peak512(loops int)

//go:noescape
func peak256(loops int)
