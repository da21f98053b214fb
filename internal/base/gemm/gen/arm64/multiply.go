package main

import "fmt"

// Vectors of a multiply kernel: the row of B, elements of A, and the tile from
// firstSum on, 4 a row. Outside of the loop of steps all below firstSum are free.
const (
	firstB   vector = 0
	firstA   vector = 4
	firstSum vector = 8
)

// Registers of a multiply kernel beside R2 to R7, which hold one to six times the
// distance of A's rows.
const (
	argument = "R0"
	blockA   = "R1" // A's first element for the tile
	stepA    = "R10"
	stepB    = "R8"
	rowB     = "R9"
	left     = "R11" // steps after this chunk
	steps    = "R12" // of this chunk that are left
	tileC    = "R13"
	rowC     = "R14"
	chunk    = "R15"
	jumpA    = "R16"
	tileH    = "R17"
	rowH     = "R19" // R18 belongs to the operating system
	mode     = "R20"
	blocks   = "R21"
	columnA  = "R22"
	scratch  = "R23"
)

// timesRowA is the register that holds i times the distance of A's rows.
func timesRowA(i int) string { return fmt.Sprintf("R%d", 1+i) }

func sum(row, i int) vector { return firstSum + vector(4*row+i) }

// multiply emits a kernel for tiles of rows×16, one below the other.
func (a *assembly) multiply(rows int) {
	a.function(fmt.Sprintf("multiply%d", rows), "t *tile", 8)
	a.line("MOVD t+0(FP), %s", argument)
	for _, f := range [][2]string{
		{"a", blockA}, {"aCol", columnA}, {"aJump", jumpA}, {"bRow", rowB}, {"c", tileC}, {"cRow", rowC},
		{"h", tileH}, {"hRow", rowH}, {"mode", mode}, {"chunk", chunk}, {"blocks", blocks}, {"aRow", timesRowA(1)},
	} {
		a.field(f[0], f[1])
	}
	for i := range rows - 1 {
		a.line("ADD %s, %s, %s", timesRowA(1), timesRowA(1+i), timesRowA(2+i))
	}
	a.label("block")
	a.start(rows)
	a.loop(rows)
	a.after(rows)
	a.label("store")
	a.rows(rows, tileC, rowC, func(place string, v vector) { a.store(v, place) })
	a.line("ADD %s, %s", timesRowA(rows), blockA)
	a.line("SUBS $1, %s", blocks)
	a.line("BNE block")
	a.line("RET")
}

// field loads a field of the struct tile.
func (a *assembly) field(name, register string) {
	a.line("MOVD tile_%s(%s), %s", name, argument, register)
}

// rows calls f for every two vectors of a tile in memory, and moves the register
// base to the row below it.
func (a *assembly) rows(rows int, base, row string, f func(place string, v vector)) {
	for i := range rows {
		f("("+base+")", sum(i, 0))
		f("32("+base+")", sum(i, 2))
		a.line("ADD %s, %s", row, base)
	}
}

// start sets the sums to zero or to C.
func (a *assembly) start(rows int) {
	a.line("TST $const_modeAdd, %s", mode)
	a.line("BNE add")
	for v := range vector(4 * rows) {
		a.zero(firstSum + v)
	}
	a.line("B started")
	a.label("add")
	a.line("MOVD %s, %s", tileC, scratch)
	a.rows(rows, scratch, rowC, a.load)
	a.label("started")
}

// loop adds the products for k steps. After each chunk of steps the elements of A
// jump to the next panel.
func (a *assembly) loop(rows int) {
	a.field("k", left)
	a.field("b", stepB)
	a.line("MOVD %s, %s", blockA, stepA)
	a.label("chunk")
	a.line("CMP %s, %s", chunk, left)
	a.line("CSEL LT, %s, %s, %s", left, chunk, steps)
	a.line("SUB %s, %s", steps, left)
	a.label("step")
	a.step(rows)
	a.line("SUBS $1, %s", steps)
	a.line("BNE step")
	a.line("ADD %s, %s", jumpA, stepA)
	a.line("CBNZ %s, chunk", left)
}

// step adds the products of one k.
func (a *assembly) step(rows int) {
	a.load("("+stepB+")", firstB)
	a.load("32("+stepB+")", firstB+2)
	a.line("ADD %s, %s", rowB, stepB)
	element := func(i int) vector { return firstA + vector(i)%(firstSum-firstA) }
	for i := range rows {
		place := "(" + stepA + ")"
		if i > 0 {
			place += "(" + timesRowA(i) + ")"
		}
		a.line("FMOVS %s, F%d", place, element(i))
		for j := range 4 {
			a.multiplyAdd(sum(i, j), firstB+vector(j), element(i))
		}
	}
	a.line("ADD %s, %s", columnA, stepA)
}

// after applies the leaky ReLU or its mask: it multiplies elements by the slope
// where they, or those of H, are not positive, as is NaN.
func (a *assembly) after(rows int) {
	const slope = firstA + 3
	leak := func(h, x, mask, product vector) {
		a.compare(fcmgt, mask, h)
		a.of2(fmul, product, x, slope)
		a.line("VBIF %s, %s, %s", mask.b(), product.b(), x.b())
	}
	a.line("TST $(const_modeLeaky|const_modeMask), %s", mode)
	a.line("BEQ store")
	a.line("FMOVS tile_slope(%s), F%d", argument, slope)
	a.line("VDUP V%d.S[0], %s", slope, slope.s())
	a.line("TST $const_modeMask, %s", mode)
	a.line("BNE mask")
	for v := range vector(4 * rows) {
		leak(firstSum+v, firstSum+v, v%2, 2+v%2)
	}
	a.line("B store")
	a.label("mask")
	a.rows(rows, tileH, rowH, func(place string, v vector) {
		a.load(place, 0)
		leak(0, v, 0, 2)
		leak(1, v+1, 1, 3)
	})
}
