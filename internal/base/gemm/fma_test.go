package gemm

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/rng"
)

// exact is a·b + c rounded once to float32, by arithmetic of unlimited precision.
// Its arguments and result are finite.
func exact(a, b, c float32) float32 {
	f := func(x float32) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(float64(x)) }
	sum := new(big.Float).SetPrec(1000).Mul(f(a), f(b))
	v, _ := sum.Add(sum, f(c)).Float32()
	return v
}

// hard draws a float32 whose products and sums often lie half-way between two
// float32: few significant bits, and exponents that are close, far or extreme.
func hard(r *rand.Rand) float32 {
	switch r.IntN(4) {
	case 0:
		return math.Float32frombits(r.Uint32())
	case 1:
		return float32(r.NormFloat64())
	case 2:
		return math.Float32frombits(r.Uint32N(1 << 24)) // about the smallest
	}
	m := float32(1 + r.IntN(1<<r.IntN(24)))
	return float32(1-2*r.IntN(2)) * float32(math.Ldexp(float64(m), r.IntN(60)-30))
}

func finite(x float32) bool { return x-x == 0 }

func TestFMA(t *testing.T) {
	for _, test := range []struct{ a, b, c float32 }{
		{1 << 12, 1 << 12, 1},                         // half-way, exact: to even
		{1<<12 + 1, 1 << 12, 0.5},                     // a·b needs 25 bits
		{1 + 0x1p-12, 1 + 0x1p-12, -0x1p-24},          // a·b is half-way but for the sum
		{1 + 0x1p-23, 1, 0x1p-24},                     // half-way, odd
		{1 + 0x1p-23, 1, 0x1p-24 - 0x1p-48},           // just below half-way
		{1, 1, 0x1p-24 + 0x1p-47},                     // just above half-way
		{0x1p-60, 0x1p-60, 1 + 0x1p-23},               // a·b is lost in float64
		{0x1p-75, 0x1p-75, 0x1p-149},                  // half of the smallest
		{0x1p-75, -0x1p-75, 0x1p-149},                 //
		{math.MaxFloat32, 1, 0x1p103},                 // half-way to overflow
		{math.MaxFloat32, math.MaxFloat32, 1},         // overflow
		{math.MaxFloat32, 2, -math.MaxFloat32},        // a·b overflows, the sum does not
		{3, -1, 3}, {0, 1, 0}, {5, 0, -7}, {-1, 0, 0}, // zeros
	} {
		if got, want := fma(test.a, test.b, test.c), exact(test.a, test.b, test.c); got != want {
			t.Errorf("fma(%v, %v, %v) = %v, want %v", test.a, test.b, test.c, got, want)
		}
	}
	r := rng.New(1, "fma", 0)
	for range 50_000 {
		a, b, c := hard(r), hard(r), hard(r)
		if !finite(a) || !finite(b) || !finite(c) {
			continue
		}
		if got, want := fma(a, b, c), exact(a, b, c); got != want {
			t.Fatalf("fma(%v, %v, %v) = %v, want %v", a, b, c, got, want)
		}
	}
	for _, test := range []struct{ a, b, c, want float64 }{
		{math.Inf(1), 1, 1, math.Inf(1)},
		{1, 1, math.Inf(-1), math.Inf(-1)},
		{math.Inf(1), 0, 1, math.NaN()},
		{math.Inf(1), 1, math.Inf(-1), math.NaN()},
		{math.NaN(), 1, 1, math.NaN()},
		{0, 1, math.NaN(), math.NaN()},
	} {
		got := float64(fma(float32(test.a), float32(test.b), float32(test.c)))
		if got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("fma(%v, %v, %v) = %v, want %v", test.a, test.b, test.c, got, test.want)
		}
	}
}
