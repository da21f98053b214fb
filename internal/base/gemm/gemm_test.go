package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tiebreak/internal/base/rng"
)

func TestMain(m *testing.M) {
	fmt.Println("paths of this processor:", Paths())
	m.Run()
}

func normals(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func same(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

func equal(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i, v := range got {
		if !same(v, want[i]) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, v, want[i])
		}
	}
}

// form is one way in which a left factor lies in memory.
type form struct {
	name string
	make func(r *rand.Rand, m, k int) Left
}

var forms = []form{
	{"rows", func(r *rand.Rand, m, k int) Left { return Rows(normals(r, m*(k+3)), k+3) }},
	{"columns", func(r *rand.Rand, m, k int) Left { return Columns(normals(r, k*(m+5)), m+5) }},
	{"panels", func(r *rand.Rand, m, k int) Left {
		return Packed(normals(r, (m+2)*(k+Width)), m+2).Left()
	}},
}

func (a Left) at(i, k int) float32 { return a.Data[i*a.Row+k%Width*a.Col+k/Width*a.Panel] }

func (p Panels) at(i, j int) *float32 { return &p.Data[i*p.Row+j/Width*p.Panel+j%Width] }

// random is a product of random matrices. C is row-major with a few more
// elements a row.
func random(r *rand.Rand, f form, m, n, k int, add bool, after After) *Product {
	ld := n + 3
	return &Product{
		M: m, N: n, K: k, A: f.make(r, m, k), B: Packed(normals(r, (k+1)*n), k+1),
		C: Panels{normals(r, m*ld+Width), ld, Width}, H: Packed(normals(r, m*n), m),
		Add: add, After: after, Slope: 0.25,
	}
}

// reference is element (i, j) of the product in float64, and the sum of the
// absolute values of its terms. C is as it was before.
func (p *Product) reference(i, j int) (sum, size float64) {
	if p.Add {
		sum = float64(*p.C.at(i, j))
	}
	size = math.Abs(sum)
	for k := range p.K {
		v := float64(p.A.at(i, k)) * float64(*p.B.at(k, j))
		sum += v
		size += math.Abs(v)
	}
	if p.After == Leaky && !(sum > 0) || p.After == Mask && !(*p.H.at(i, j) > 0) {
		sum *= float64(p.Slope)
	}
	return sum, size
}

// checkProduct computes a product on every path: the values are those of float64
// but for rounding, the bits are equal, and nothing else is written.
func checkProduct(t *testing.T, p *Product) {
	t.Helper()
	before := append([]float32(nil), p.C.Data...)
	want := append([]float32(nil), before...)
	for i := range p.M {
		for j := range p.N {
			want[i*p.C.Row+j] = float32(math.NaN())
		}
	}
	var first []float32
	for _, path := range Paths() {
		q := *p
		q.C.Data = append([]float32(nil), before...)
		path.Mul(&q)
		if first == nil {
			first = q.C.Data
			for i := range p.M {
				for j := range p.N {
					sum, size := p.reference(i, j)
					if d := math.Abs(float64(*q.C.at(i, j)) - sum); !(d <= size*float64(p.K+2)*0x1p-24) {
						t.Fatalf("%v: element %d, %d is %v, want %v", path, i, j, *q.C.at(i, j), sum)
					}
				}
			}
			for i, w := range want {
				if w == w && q.C.Data[i] != w {
					t.Fatalf("%v: place %d outside of C was written", path, i)
				}
			}
		}
		equal(t, path.String(), q.C.Data, first)
	}
}

func TestMul(t *testing.T) {
	r := rng.New(1, "mul", 0)
	for _, shape := range [][3]int{
		{1, 16, 1},
		{1, 32, 257},
		{2, 48, 15},
		{3, 16, 16},
		{5, 32, 17},
		{7, 80, 31},
		{8, 16, 64},
		{15, 48, 33},
		{3, 32, 385},
		{2, 16, 700},
		{300, 16, 3},
	} {
		for _, f := range forms {
			for i := range 6 {
				p := random(r, f, shape[0], shape[1], shape[2], i%2 == 1, After(i/2))
				t.Run(fmt.Sprintf("%v/%s/%v/%v", shape, f.name, p.Add, p.After), func(t *testing.T) { checkProduct(t, p) })
			}
		}
	}
}

// Products of more than one call of a kernel, and of more steps than one call does.
func TestLargeMul(t *testing.T) {
	r := rng.New(6, "mul", 0)
	checkProduct(t, random(r, forms[2], 135, 48, 256, true, Mask))
	checkProduct(t, random(r, forms[0], 5, 32, 1000, false, Leaky))
}

func FuzzMul(f *testing.F) {
	f.Add(uint16(23), uint8(1), uint16(16), uint8(0), uint64(1))
	f.Add(uint16(1), uint8(2), uint16(65), uint8(5), uint64(2))
	f.Add(uint16(17), uint8(3), uint16(15), uint8(10), uint64(3))
	f.Fuzz(func(t *testing.T, m uint16, n uint8, k uint16, kind uint8, seed uint64) {
		p := random(rng.New(seed, "fuzz", 0), forms[kind%3], 1+int(m%20), Width*(1+int(n%4)), 1+int(k%80), kind/3%2 == 1, After(kind/6%3))
		checkProduct(t, p)
	})
}

// The kernels' multiply-add and that of portable Go round alike, also with
// subnormal numbers, infinities and NaN.
func TestFMAOfPaths(t *testing.T) {
	if Best == Portable {
		t.Log("this processor has no vector path")
	}
	r := rng.New(2, "fma", 0)
	const n = 2 * Width
	for range 5_000 {
		a, b, c := hard(r), make([]float32, n), make([]float32, n)
		for i := range b {
			b[i], c[i] = hard(r), hard(r)
			if finite(a) && r.IntN(3) == 0 { // cancellation, up to the last bits
				c[i] = -a * b[i] * (1 + float32(r.IntN(3)-1)*0x1p-23)
			}
		}
		for _, path := range Paths() {
			p := Product{M: 1, N: n, K: 1, A: Rows([]float32{a}, 1), B: Packed(b, 1), C: Packed(append([]float32(nil), c...), 1), Add: true}
			path.Mul(&p)
			for i, got := range p.C.Data {
				if want := fma(a, b[i], c[i]); !same(got, want) {
					t.Fatalf("%v: fma(%v, %v, %v) = %v, portable %v", path, a, b[i], c[i], got, want)
				}
			}
		}
	}
}

// What follows the product treats NaN, infinities and zeros alike on every path, in
// tiles of every height.
func TestAfter(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	values := []float32{1, -1, 0, float32(math.Copysign(0, -1)), inf, -inf, nan, 0x1p-140, -0x1p-140, 3, -3, 7, -7, 1e30, -1e30, 2}
	const n = 2 * Width
	for _, path := range Paths() {
		for _, rows := range []int{11, 15} { // 8, 2, 1 or 6, 4, 1; 8, 4, 2, 1 or 6, 6, 2, 1
			for _, slope := range []float32{0, 0.01, 1} {
				ones, b, h := make([]float32, rows), make([]float32, n), make([]float32, rows*n)
				for i := range ones {
					ones[i] = 1
				}
				for j := range b {
					b[j] = values[j%Width]
				}
				for i := range rows {
					for j := range n {
						h[i*n+j] = values[(j+i)%Width]
					}
				}
				for _, after := range []After{Leaky, Mask} {
					c := Panels{make([]float32, rows*n), n, Width}
					p := Product{M: rows, N: n, K: 1, A: Rows(ones, 1), B: Packed(b, 1), C: c, H: Panels{h, n, Width}, After: after, Slope: slope}
					path.Mul(&p)
					for i, got := range c.Data {
						sign, want := h[i], b[i%n]+0
						if after == Leaky {
							sign = b[i%n]
						}
						if !(sign > 0) {
							want *= slope
						}
						if !same(got, want) {
							t.Errorf("%v, slope %v, after %v: %v with sign of %v became %v, want %v", path, slope, after, b[i%n], sign, got, want)
						}
					}
				}
			}
		}
	}
}

func TestLayouts(t *testing.T) {
	r := rng.New(3, "layout", 0)
	for _, path := range Paths() {
		for _, rows := range []int{1, 7, 8, 15, 16, 17, 24, 33} {
			for _, cols := range []int{1, 3, 7, 8, 9, 16, 23, 40} {
				x := normals(r, rows*cols)
				height := cols + 2
				p := Packed(normals(r, (rows+Width)*height), height)
				before := append([]float32(nil), p.Data...)
				path.Pack(p, x, rows, cols)
				for j := range (rows + Width - 1) / Width * Width {
					for i := range height {
						want := before[i*p.Row+j/Width*p.Panel+j%Width]
						if i < cols {
							want = 0
							if j < rows {
								want = x[j*cols+i]
							}
						}
						if got := *p.at(i, j); got != want {
							t.Fatalf("%v, Pack of %d×%d: element %d, %d is %v, want %v", path, rows, cols, i, j, got, want)
						}
					}
				}
				y := make([]float32, rows*cols)
				path.Unpack(y, p, rows, cols)
				equal(t, fmt.Sprintf("%v, Unpack of %d×%d", path, rows, cols), y, x)
			}
		}
		for _, shape := range [][2]int{{16, 16}, {16, 48}, {48, 32}} {
			src := Packed(normals(r, (shape[0]+1)*shape[1]), shape[0]+1)
			dst := Packed(make([]float32, (shape[1]+2)*shape[0]), shape[1]+2)
			path.Transpose(dst, src, shape[0], shape[1])
			for i := range shape[0] {
				for j := range shape[1] {
					if got, want := *dst.at(j, i), *src.at(i, j); got != want {
						t.Fatalf("%v, Transpose of %v: element %d, %d is %v, want %v", path, shape, j, i, got, want)
					}
				}
			}
		}
	}
}

func TestElements(t *testing.T) {
	const n = maxElementsTested
	r := rng.New(4, "elements", 0)
	p, d, m, v := normals(r, n), normals(r, n), normals(r, n), normals(r, n)
	for i := range v {
		v[i] *= v[i]
	}
	d[3], p[5], m[7], v[9], d[11] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, 0x1p-149
	s := Step{0.9, 0.1, 0.999, 0.001, 0.01, 1e-8, 0.1}
	clone := func(x []float32) []float32 { return append([]float32(nil), x...) }
	var first [3][]float32
	for _, path := range Paths() {
		q, g, mm, vv := clone(p), clone(d), clone(m), clone(v)
		path.Adam(&s, q, g, mm, vv)
		equal(t, path.String()+": gradient", g, d)
		target := clone(d)
		path.Polyak(target, p, 0.005)
		if path == Portable {
			first = [3][]float32{q, mm, vv}
			for i := 20; i < n; i++ {
				g := float64(d[i]) + 0.1*float64(p[i])
				m, v := 0.9*float64(m[i])+0.1*g, 0.999*float64(v[i])+0.001*g*g
				want := float64(p[i]) - 0.01*m/(math.Sqrt(v)+1e-8)
				if math.Abs(float64(q[i])-want) > 1e-5*(1+math.Abs(want)) {
					t.Fatalf("Adam: parameter %d is %v, want %v", i, q[i], want)
				}
			}
		}
		for i, got := range [][]float32{q, mm, vv} {
			equal(t, fmt.Sprintf("%v: Adam's result %d", path, i), got, first[i])
		}
		for i, got := range target {
			diff := p[i] - d[i]
			if want := d[i] + float32(0.005*diff); !same(got, want) {
				t.Fatalf("%v: Polyak's %d is %v, want %v", path, i, got, want)
			}
		}
	}
}

func TestSquash(t *testing.T) {
	r := rng.New(7, "squash", 0)
	u := []float32{0, float32(math.Copysign(0, -1)), 1e-30, -1e-8, 8.5, -20, 39.9, -1e30, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	for range 20_000 {
		u = append(u, float32(r.NormFloat64()*math.Exp(3*r.NormFloat64())))
	}
	x := make([]float32, len(u))
	for i := range x {
		x[i] = max(-87, min(87, u[i]))
	}
	f := func() []float32 { return make([]float32, len(u)) }
	var first [4][]float32
	for _, path := range Paths() {
		got := [4][]float32{f(), f(), f(), f()}
		path.Squash(got[0], got[1], got[2], u)
		path.Exp(got[3], x)
		if path == Portable {
			first = got
		}
		for k := range got {
			equal(t, fmt.Sprintf("%v, function %d", path, k), got[k], first[k])
		}
	}
	for i, v := range u {
		w := math.Max(-40, math.Min(40, float64(v)))
		e := math.Exp(-2 * math.Abs(w))
		for k, want := range []float64{math.Tanh(w), 4 * e / (1 + e) / (1 + e), 2 * (math.Ln2 - math.Abs(w) - math.Log1p(e)), math.Exp(float64(x[i]))} {
			got := float64(first[k][i])
			scale := math.Abs(want)
			if k == 0 || k == 2 {
				scale = math.Max(scale, 1) // absolute near 0
			}
			if d := math.Abs(got - want); !(d <= 5e-7*scale) && !(math.IsNaN(want) && math.IsNaN(got)) {
				t.Fatalf("function %d of %v is %v, want %v", k, v, got, want)
			}
		}
	}
}

// maxElementsTested needs more than one call of the kernels.
const maxElementsTested = 1<<14 + 48

func TestShortMatricesPanic(t *testing.T) {
	whole := func() *Product { return random(rng.New(5, "short", 0), forms[0], 3, 32, 5, false, Mask) }
	for name, change := range map[string]func(p *Product){
		"columns": func(p *Product) { p.N = 17 },
		"A":       func(p *Product) { p.A.Data = p.A.Data[:2*8+4] },
		"B":       func(p *Product) { p.B.Data = p.B.Data[:len(p.B.Data)-Width-1] },
		"C":       func(p *Product) { p.C.Data = p.C.Data[:2*35+31] },
		"H":       func(p *Product) { p.H.Data = p.H.Data[:len(p.H.Data)-1] },
	} {
		for _, path := range Paths() {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v: no panic at a wrong %s", path, name)
					}
				}()
				p := whole()
				change(p)
				path.Mul(p)
			}()
		}
	}
}
