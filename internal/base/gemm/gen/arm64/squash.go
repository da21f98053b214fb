package main

import "math"

// functions emits functions of 8 elements: the assembly and a register for constants.
type functions struct {
	*assembly
	work vector
}

func (f functions) float(v float32) eight { return f.constant(f.work, math.Float32bits(v)) }

// with emits d = x op v.
func (f functions) with(code uint32, d, x eight, v float32) { f.op(code, d, x, f.float(v)) }

// polynomial emits the Horner scheme of a polynomial in x, highest power first.
func (f functions) polynomial(p, x eight, coefficients ...float32) {
	f.with(fmul, p, x, coefficients[0])
	f.with(fadd, p, p, coefficients[1])
	for _, v := range coefficients[2:] {
		f.op(fmul, p, p, x)
		f.with(fadd, p, p, v)
	}
}

// exp emits Exp of package gemm, operation for operation. x keeps its value.
func (f functions) exp(x eight) eight {
	const round = 3 << 22
	n, bits, t, r, p := f.eight(), f.eight(), f.eight(), f.eight(), f.eight()
	f.with(fmul, n, x, math.Log2E)
	f.with(fadd, n, n, round)
	f.bits("VADD", "S4", bits, n, f.constant(f.work, 127))
	for _, v := range bits {
		f.line("VSHL $23, %s, %s", v.s(), v.s())
	}
	f.with(fsub, n, n, round)
	f.with(fmul, t, n, 0.693359375)
	f.op(fsub, r, x, t)
	f.with(fmul, t, n, -2.12194440e-4)
	f.op(fsub, r, r, t)
	f.polynomial(p, r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
	f.op(fmul, t, r, r)
	f.op(fmul, p, p, t)
	f.op(fadd, p, p, r)
	f.with(fadd, p, p, 1)
	f.op(fmul, p, p, bits)
	return p
}

// log1p emits log1p of package gemm, operation for operation. e keeps its value.
func (f functions) log1p(e eight) eight {
	s, q, p := f.eight(), f.eight(), f.eight()
	f.with(fadd, s, e, 2)
	f.op(fdiv, s, e, s)
	f.op(fmul, q, s, s)
	f.polynomial(p, q, 1./13, 1./11, 1./9, 1./7, 1./5, 1./3)
	f.op(fmul, p, p, q)
	f.op(fmul, p, p, s)
	f.op(fadd, p, s, p)
	f.op(fadd, p, p, p)
	return p
}

// exponential emits Exp.
func (a *assembly) exponential() {
	a.function("exponential", "n int, dst, x *float32", 24)
	a.line("MOVD n+0(FP), R0")
	a.line("MOVD dst+8(FP), R1")
	a.line("MOVD x+16(FP), R2")
	a.begin()
	f := functions{a, a.take(1)}
	x := a.eight()
	a.label("loop")
	a.load("(R2)", x[0])
	a.store(f.exp(x)[0], "(R1)")
	a.next("R0", "R1", "R2")
}

// squash emits Squash.
func (a *assembly) squash() {
	const resultA, resultSlope, resultLog, argumentU = "R1", "R2", "R3", "R4"
	a.function("squash", "n int, a, slope, logSlope, u *float32", 40)
	a.line("MOVD n+0(FP), R0")
	a.line("MOVD a+8(FP), %s", resultA)
	a.line("MOVD slope+16(FP), %s", resultSlope)
	a.line("MOVD logSlope+24(FP), %s", resultLog)
	a.line("MOVD u+32(FP), %s", argumentU)
	a.begin()
	f := functions{a, a.take(1)}
	u, x, t, inv, y := a.eight(), a.eight(), a.eight(), a.eight(), a.eight()
	a.label("loop")
	a.load("("+argumentU+")", u[0])
	a.op1(fabs, x, u)
	f.with(fmin, x, x, 40)
	f.with(fmul, t, x, -2)
	e := f.exp(t)
	f.with(fadd, t, e, 1)
	a.op(fdiv, inv, f.float(1), t)

	a.op(fsub, y, f.float(1), e)
	a.op(fmul, y, y, inv)
	for i := range t {
		a.compare(fcmlt, t[i], u[i])
	}
	a.bits("VAND", "B16", t, t, a.constant(f.work, 1<<31))
	a.bits("VEOR", "B16", y, y, t)
	a.store(y[0], "("+resultA+")")

	f.with(fmul, t, e, 4)
	a.op(fmul, t, t, inv)
	a.op(fmul, t, t, inv)
	a.store(t[0], "("+resultSlope+")")

	l := f.log1p(e)
	a.op(fsub, t, f.float(math.Ln2), x)
	a.op(fsub, t, t, l)
	a.op(fadd, t, t, t)
	a.store(t[0], "("+resultLog+")")
	a.next("R0", resultA, resultSlope, resultLog, argumentU)
}
