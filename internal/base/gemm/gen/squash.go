package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// constants are values in all 8 places of a vector, in a table of the assembly.
type constants struct {
	table Mem
	place map[uint32]int
}

func newConstants(name string) *constants {
	return &constants{GLOBL(name, RODATA|NOPTR), map[uint32]int{}}
}

func (c *constants) bits(v uint32) Mem {
	i, ok := c.place[v]
	if !ok {
		i = len(c.place)
		c.place[v] = i
		for k := range 8 {
			DATA(32*i+4*k, U32(v))
		}
	}
	return c.table.Offset(32 * i)
}

func (c *constants) float(v float32) Mem { return c.bits(math.Float32bits(v)) }

// polynomial emits the Horner scheme of a polynomial in x, highest power first.
func (c *constants) polynomial(x reg.VecVirtual, coefficients ...float32) reg.VecVirtual {
	p := YMM()
	VMOVUPS(c.float(coefficients[0]), p)
	for _, v := range coefficients[1:] {
		VMULPS(x, p, p)
		VADDPS(c.float(v), p, p)
	}
	return p
}

// exp emits Exp of package gemm, operation for operation.
func (c *constants) exp(x reg.VecVirtual) reg.VecVirtual {
	const round = 3 << 22
	n, bits, t := YMM(), YMM(), YMM()
	VMULPS(c.float(math.Log2E), x, n)
	VADDPS(c.float(round), n, n)
	VPADDD(c.bits(127), n, bits)
	VPSLLD(Imm(23), bits, bits)
	VSUBPS(c.float(round), n, n)
	r := YMM()
	VMULPS(c.float(0.693359375), n, t)
	VSUBPS(t, x, r)
	VMULPS(c.float(-2.12194440e-4), n, t)
	VSUBPS(t, r, r)
	p := c.polynomial(r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
	VMULPS(r, r, t)
	VMULPS(t, p, p)
	VADDPS(r, p, p)
	VADDPS(c.float(1), p, p)
	VMULPS(bits, p, p)
	return p
}

// log1p emits log1p of package gemm, operation for operation.
func (c *constants) log1p(e reg.VecVirtual) reg.VecVirtual {
	s, q := YMM(), YMM()
	VADDPS(c.float(2), e, s)
	VDIVPS(s, e, s)
	VMULPS(s, s, q)
	p := c.polynomial(q, 1./13, 1./11, 1./9, 1./7, 1./5, 1./3)
	VMULPS(q, p, p)
	VMULPS(s, p, p)
	VADDPS(p, s, p)
	VADDPS(p, p, p)
	return p
}

// exponential emits Exp.
func exponential(c *constants) {
	TEXT("exponential", NOSPLIT, "func(n int, dst, x *float32)")
	Doc("exponential stores exp(x) in dst; n is a positive multiple of 8.")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	dst, x := Load(Param("dst"), GP64()).(reg.GPVirtual), Load(Param("x"), GP64()).(reg.GPVirtual)
	Label("loop")
	v := YMM()
	VMOVUPS(Mem{Base: x}, v)
	VMOVUPS(c.exp(v), Mem{Base: dst})
	ADDQ(Imm(32), x)
	ADDQ(Imm(32), dst)
	SUBQ(Imm(8), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// squash emits Squash.
func squash(c *constants) {
	TEXT("squash", NOSPLIT, "func(n int, a, slope, logSlope, u *float32)")
	Doc("squash computes Squash; n is a positive multiple of 8.")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	at := map[string]Mem{}
	i := GP64()
	XORQ(i, i)
	for _, name := range []string{"a", "slope", "logSlope", "u"} {
		at[name] = Mem{Base: Load(Param(name), GP64()).(reg.GPVirtual), Index: i, Scale: 4}
	}
	Label("loop")
	u, x, t := YMM(), YMM(), YMM()
	VMOVUPS(at["u"], u)
	VANDPS(c.bits(1<<31-1), u, x)
	VMOVUPS(c.float(40), t)
	VMINPS(x, t, x) // x if it is NaN
	VMULPS(c.float(-2), x, t)
	e := c.exp(t)
	inv := YMM()
	VADDPS(c.float(1), e, t)
	VMOVUPS(c.float(1), inv)
	VDIVPS(t, inv, inv)

	a := YMM()
	VMOVUPS(c.float(1), a)
	VSUBPS(e, a, a)
	VMULPS(inv, a, a)
	VXORPS(t, t, t)
	VCMPPS(Imm(1), t, u, t) // u < 0
	VANDPS(c.bits(1<<31), t, t)
	VXORPS(t, a, a)
	VMOVUPS(a, at["a"])

	VMULPS(c.float(4), e, t)
	VMULPS(inv, t, t)
	VMULPS(inv, t, t)
	VMOVUPS(t, at["slope"])

	l := c.log1p(e)
	VMOVUPS(c.float(math.Ln2), t)
	VSUBPS(x, t, t)
	VSUBPS(l, t, t)
	VADDPS(t, t, t)
	VMOVUPS(t, at["logSlope"])
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
