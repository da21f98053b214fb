//go:build amd64 || arm64

package gemm

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
