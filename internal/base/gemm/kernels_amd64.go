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

// transpose transposes t.tiles tiles of 8 rows and t.columns columns.
//
//go:noescape
func transpose(t *turn)

// gather copies rows of 8 elements, which are at those places in rows of 16, to the
// beginnings of rows of 16.
//
//go:noescape
func gather(rows int, to, from *float32, at *int32)

// adam does a step of Adam on n parameters; n is a positive multiple of 8.
//
//go:noescape
func adam(n int, p, d, m, v *float32, beta1, rest1, beta2, rest2, rate, eps, decay float32)

// polyak moves n parameters towards others; n is a positive multiple of 8.
//
//go:noescape
func polyak(n int, p, from *float32, tau float32)

// exponential stores exp(x) in dst; n is a positive multiple of 8.
//
//go:noescape
func exponential(n int, dst, x *float32)

// squash computes Squash; n is a positive multiple of 8.
//
//go:noescape
func squash(n int, a, slope, logSlope, u *float32)

// peak512 and peak256 do 10 independent multiply-adds of vectors, loops times.
//
//go:noescape
func peak512(loops int)

//go:noescape
func peak256(loops int)
