package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileFields are the fields of the package's struct tile, in order.
var tileFields = []string{
	"blocks", "k", "chunk",
	"a", "aRow", "aCol", "aJump",
	"b", "bRow", "bPanel",
	"c", "cRow", "cPanel",
	"h", "hRow", "hPanel",
	"mode", "slope",
	"cDone", "hDone",
}

// Bits of the field mode.
const (
	modeAdd = 1 << iota
	modeLeaky
	modeMask
)

// multiplier emits one kernel: tiles of rows×columns, one below the other.
type multiplier struct {
	set
	rows            int
	p               reg.GPVirtual
	a, aRow, aRow3  reg.GPVirtual // first element of the tile's rows; stride; three times the stride
	aCol            reg.GPVirtual
	low, high       reg.GPVirtual // element of row 0 and of row 4 at the present k
	b, bRow, bPanel reg.GPVirtual
	sums            [][2]reg.VecVirtual
}

func multiply(s set, rows int) {
	name := fmt.Sprintf("multiply%s_%d", s.name, rows)
	TEXT(name, NOSPLIT, "func(t *byte)")
	Doc(fmt.Sprintf("%s computes t.blocks tiles of %d×%d elements of a product.", name, rows, s.columns))
	Pragma("noescape")
	m := &multiplier{set: s, rows: rows, p: Load(Param("t"), GP64()).(reg.GPVirtual)}
	m.a = loadTo(m.arg("a"), GP64())
	m.aRow = loadTo(m.arg("aRow"), GP64())
	m.aCol = loadTo(m.arg("aCol"), GP64())
	m.bRow = loadTo(m.arg("bRow"), GP64())
	m.aRow3 = GP64()
	LEAQ(Mem{Base: m.aRow, Index: m.aRow, Scale: 2}, m.aRow3)
	m.b, m.bPanel, m.low, m.high = GP64(), GP64(), GP64(), GP64()
	m.sums = make([][2]reg.VecVirtual, rows)
	for i := range m.sums {
		m.sums[i] = [2]reg.VecVirtual{s.vector(), s.vector()}
	}
	Label("block")
	m.start()
	m.loop()
	m.after()
	m.store()
	VZEROUPPER()
	RET()
}

func (m *multiplier) arg(name string) Mem { return argument(m.p, tileFields, name) }

// place returns the tile's vector j of a row that begins at base; panel holds
// the distance of panels.
func (m *multiplier) place(base, panel reg.Register, j int) Mem {
	if m.bytes == 64 && j == 1 {
		return Mem{Base: base, Index: panel, Scale: 1}
	}
	return Mem{Base: base, Disp: j * m.bytes}
}

// each calls f for every vector of a matrix in memory with the tile's shape.
func (m *multiplier) each(name string, f func(at Mem, sum reg.VecVirtual)) {
	base := loadTo(m.arg(name), GP64())
	ADDQ(m.arg(name+"Done"), base)
	row := loadTo(m.arg(name+"Row"), GP64())
	panel := loadTo(m.arg(name+"Panel"), GP64())
	for i := range m.sums {
		for j, sum := range m.sums[i] {
			f(m.place(base, panel, j), sum)
		}
		if i+1 < m.rows {
			ADDQ(row, base)
		}
	}
}

// start sets the sums to zero or to C.
func (m *multiplier) start() {
	TESTQ(U32(modeAdd), m.arg("mode"))
	JNE(LabelRef("add"))
	for i := range m.sums {
		m.zero(m.sums[i][0])
		m.zero(m.sums[i][1])
	}
	JMP(LabelRef("started"))
	Label("add")
	m.each("c", func(at Mem, sum reg.VecVirtual) { VMOVUPS(at, sum) })
	Label("started")
}

// loop adds the products for k steps. After each chunk of steps the elements of A
// jump to the next panel.
func (m *multiplier) loop() {
	left, n := loadTo(m.arg("k"), GP64()), GP64()
	MOVQ(m.arg("b"), m.b)
	MOVQ(m.arg("bPanel"), m.bPanel)
	MOVQ(m.a, m.low)
	if m.rows > 4 {
		LEAQ(Mem{Base: m.a, Index: m.aRow, Scale: 4}, m.high)
	}
	Label("chunk")
	MOVQ(m.arg("chunk"), n)
	CMPQ(n, left)
	CMOVQGT(left, n)
	SUBQ(n, left)
	SUBQ(Imm(2), n)
	JLT(LabelRef("odd"))
	Label("pair")
	m.step()
	m.step()
	SUBQ(Imm(2), n)
	JGE(LabelRef("pair"))
	Label("odd")
	CMPQ(n, I32(-1))
	JNE(LabelRef("even"))
	m.step()
	Label("even")
	ADDQ(m.arg("aJump"), m.low)
	if m.rows > 4 {
		ADDQ(m.arg("aJump"), m.high)
	}
	TESTQ(left, left)
	JNE(LabelRef("chunk"))
}

// step adds the products of one k.
func (m *multiplier) step() {
	b := [2]reg.VecVirtual{m.vector(), m.vector()}
	for j := range b {
		VMOVUPS(m.place(m.b, m.bPanel, j), b[j])
	}
	for i := range m.rows {
		a := m.vector()
		VBROADCASTSS(m.element(i), a)
		for j := range b {
			VFMADD231PS(a, b[j], m.sums[i][j])
		}
	}
	ADDQ(m.aCol, m.low)
	if m.rows > 4 {
		ADDQ(m.aCol, m.high)
	}
	ADDQ(m.bRow, m.b)
}

// element is the place of A's element of row i at the present k.
func (m *multiplier) element(i int) Mem {
	base := m.low
	if i >= 4 {
		base = m.high
	}
	switch i % 4 {
	case 1:
		return Mem{Base: base, Index: m.aRow, Scale: 1}
	case 2:
		return Mem{Base: base, Index: m.aRow, Scale: 2}
	case 3:
		return Mem{Base: base, Index: m.aRow3, Scale: 1}
	}
	return Mem{Base: base}
}

// after applies the leaky ReLU or its mask.
func (m *multiplier) after() {
	TESTQ(U32(modeLeaky|modeMask), m.arg("mode"))
	JEQ(LabelRef("store"))
	zero, slope := m.vector(), m.vector()
	m.zero(zero)
	VBROADCASTSS(m.arg("slope"), slope)
	TESTQ(U32(modeMask), m.arg("mode"))
	JNE(LabelRef("mask"))
	for i := range m.sums {
		for _, sum := range m.sums[i] {
			m.leak(sum, sum, zero, slope)
		}
	}
	JMP(LabelRef("store"))
	Label("mask")
	m.each("h", func(at Mem, sum reg.VecVirtual) { m.leak(at, sum, zero, slope) })
	Label("store")
}

// leak multiplies x by slope where h is not positive.
func (m *multiplier) leak(h Op, x, zero, slope reg.VecVirtual) {
	const notLess = 5 // the comparison !(0 < h), true for NaN
	if m.bytes == 64 {
		k := K()
		VCMPPS(Imm(notLess), h, zero, k)
		VMULPS(slope, x, k, x)
		return
	}
	mask, product := m.vector(), m.vector()
	VCMPPS(Imm(notLess), h, zero, mask)
	VMULPS(slope, x, product)
	VBLENDVPS(mask, product, x, x)
}

// store writes the tile and goes on with the one below.
func (m *multiplier) store() {
	m.each("c", func(at Mem, sum reg.VecVirtual) { VMOVUPS(sum, at) })
	for _, name := range []string{"c", "h"} {
		t := loadTo(m.arg(name+"Row"), GP64())
		IMUL3Q(U8(m.rows), t, t)
		ADDQ(t, m.arg(name+"Done"))
	}
	t := GP64()
	IMUL3Q(U8(m.rows), m.aRow, t)
	ADDQ(t, m.a)
	DECQ(m.arg("blocks"))
	JNE(LabelRef("block"))
}
