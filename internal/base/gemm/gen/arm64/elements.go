package main

import "fmt"

// transpose emits the transposition of tiles of 8 rows and up to 8 columns.
func (a *assembly) transpose() {
	const (
		tiles, columns                 = "R1", "R2"
		from, fromRow, fromTile        = "R3", "R4", "R5"
		to, toRow, toTile              = "R6", "R7", "R8"
		fromAt, toAt, column, row, end = "R9", "R10", "R11", "R12", "R13"
	)
	a.function("transpose", "t *turn", 8)
	a.line("MOVD t+0(FP), R0")
	for _, f := range [][2]string{
		{"tiles", tiles}, {"columns", columns}, {"from", from}, {"fromRow", fromRow}, {"fromTile", fromTile},
		{"to", to}, {"toRow", toRow}, {"toTile", toTile},
	} {
		a.line("MOVD turn_%s(R0), %s", f[0], f[1])
	}
	a.label("tile")
	a.line("MOVD %s, %s", to, toAt)
	a.line("CMP $8, %s", columns)
	a.line("BNE part")
	a.line("MOVD %s, %s", from, fromAt)
	for r := range vector(8) {
		a.load("("+fromAt+")", 2*r)
		a.line("ADD %s, %s", fromRow, fromAt)
	}
	for half := range vector(2) {
		a.turned(half, 24)   // of rows 0 to 3
		a.turned(8+half, 25) // of rows 4 to 7
		for c := range vector(4) {
			a.store(24+2*c, "("+toAt+")")
			a.line("ADD %s, %s", toRow, toAt)
		}
	}
	a.line("B next")

	a.label("part")
	a.line("MOVD %s, %s", from, column)
	a.line("ADD %s<<2, %s, %s", columns, from, end)
	a.label("column")
	a.line("MOVD %s, %s", column, row)
	for r := range 8 {
		a.line("VLD1.P (%s)(%s), V%d.S[%d]", row, fromRow, r/4, r%4)
	}
	a.store(0, "("+toAt+")")
	a.line("ADD %s, %s", toRow, toAt)
	a.line("ADD $4, %s", column)
	a.line("CMP %s, %s", end, column)
	a.line("BNE column")

	a.label("next")
	a.line("ADD %s, %s", fromTile, from)
	a.line("ADD %s, %s", toTile, to)
	a.line("SUBS $1, %s", tiles)
	a.line("BNE tile")
	a.line("RET")
}

// turned emits the transposition of the 4 vectors from, from+2, from+4 and from+6
// into to, to+2, to+4 and to+6.
func (a *assembly) turned(from, to vector) {
	const pairs = 16
	for i := range vector(2) {
		for k := range vector(2) {
			low, high := from+4*i, from+4*i+2
			a.line("VTRN%d %s, %s, %s", 1+k, high.s(), low.s(), (pairs + 2*i + k).s())
		}
	}
	for c := range vector(4) {
		low := pairs + c%2
		a.line("VTRN%d V%d.D2, V%d.D2, V%d.D2", 1+c/2, low+2, low, to+2*c)
	}
}

// gather emits the copy of 8 columns of packed panels.
func (a *assembly) gather() {
	a.function("gather", "rows int, to, from *float32, at *int32", 32)
	a.line("MOVD rows+0(FP), R0")
	a.line("MOVD to+8(FP), R1")
	a.line("MOVD from+16(FP), R2")
	a.line("MOVD at+24(FP), R3")
	column := func(l int) string { return fmt.Sprintf("R%d", 4+l) }
	for l := range 8 {
		a.line("MOVW %d(R3), %s", 4*l, column(l))
		a.line("ADD %s<<2, R2, %s", column(l), column(l))
	}
	a.line("MOVD $64, R12")
	a.label("row")
	for l := range 8 {
		if l%4 == 0 { // this load sets the other elements, so that the vector does not depend on the row before
			a.line("FMOVS.P 64(%s), F%d", column(l), l/4)
		} else {
			a.line("VLD1.P (%s)(R12), V%d.S[%d]", column(l), l/4, l%4)
		}
	}
	a.store(0, "(R1)")
	a.line("ADD $64, R1")
	a.line("SUBS $1, R0")
	a.line("BNE row")
	a.line("RET")
}

// adam emits a step of Adam. Products and sums are rounded one by one, as in
// portable Go.
func (a *assembly) adam() {
	a.function("adam", "n int, p, d, m, v *float32, beta1, rest1, beta2, rest2, rate, eps, decay float32", 68)
	a.line("MOVD n+0(FP), R0")
	const p, d, m, v = "R1", "R2", "R3", "R4"
	for i, name := range []string{"p", "d", "m", "v"} {
		a.line("MOVD %s+%d(FP), R%d", name, 8+8*i, 1+i)
	}
	constant := map[string]eight{}
	for i, name := range []string{"beta1", "rest1", "beta2", "rest2", "rate", "eps", "decay"} {
		constant[name] = a.broadcast(fmt.Sprintf("%s+%d(FP)", name, 40+4*i))
	}
	x, g, mean, square, t := a.eight(), a.eight(), a.eight(), a.eight(), a.eight()
	a.label("loop")
	a.load("("+p+")", x[0])
	a.load("("+d+")", g[0])
	a.load("("+m+")", mean[0])
	a.load("("+v+")", square[0])
	a.op(fmul, t, x, constant["decay"])
	a.op(fadd, g, g, t)
	a.op(fmul, mean, mean, constant["beta1"])
	a.op(fmul, t, g, constant["rest1"])
	a.op(fadd, mean, mean, t)
	a.store(mean[0], "("+m+")")
	a.op(fmul, g, g, g)
	a.op(fmul, g, g, constant["rest2"])
	a.op(fmul, square, square, constant["beta2"])
	a.op(fadd, square, square, g)
	a.store(square[0], "("+v+")")
	a.op1(fsqrt, square, square)
	a.op(fadd, square, square, constant["eps"])
	a.op(fmul, mean, mean, constant["rate"])
	a.op(fdiv, mean, mean, square)
	a.op(fsub, x, x, mean)
	a.store(x[0], "("+p+")")
	a.next("R0", p, d, m, v)
}

// polyak emits the average of two vectors.
func (a *assembly) polyak() {
	a.function("polyak", "n int, p, from *float32, tau float32", 28)
	a.line("MOVD n+0(FP), R0")
	a.line("MOVD p+8(FP), R1")
	a.line("MOVD from+16(FP), R2")
	tau, x, y := a.broadcast("tau+24(FP)"), a.eight(), a.eight()
	a.label("loop")
	a.load("(R1)", x[0])
	a.load("(R2)", y[0])
	a.op(fsub, y, y, x)
	a.op(fmul, y, y, tau)
	a.op(fadd, x, x, y)
	a.store(x[0], "(R1)")
	a.next("R0", "R1", "R2")
}
