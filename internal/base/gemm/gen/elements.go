package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// turnFields are the fields of the package's struct turn, in order.
var turnFields = []string{"tiles", "columns", "mask", "from", "fromRow", "fromTile", "to", "toRow", "toTile"}

// transpose emits the transposition of tiles of 8 rows and up to 8 columns.
func transpose() {
	TEXT("transpose", NOSPLIT, "func(t *byte)")
	Doc("transpose transposes t.tiles tiles of 8 rows and t.columns columns.")
	Pragma("noescape")
	p := Load(Param("t"), GP64()).(reg.GPVirtual)
	arg := func(name string) Mem { return argument(p, turnFields, name) }
	n := loadTo(arg("tiles"), GP64())
	from, fromRow, fromTile := loadTo(arg("from"), GP64()), loadTo(arg("fromRow"), GP64()), loadTo(arg("fromTile"), GP64())
	to, toRow, toTile := loadTo(arg("to"), GP64()), loadTo(arg("toRow"), GP64()), loadTo(arg("toTile"), GP64())
	columns := loadTo(arg("columns"), GP64())
	mask, at, left := YMM(), GP64(), GP64()
	MOVQ(arg("mask"), at)
	VMOVUPS(Mem{Base: at}, mask)

	Label("tile")
	MOVQ(from, at)
	var rows [8]reg.VecVirtual
	for i := range rows {
		rows[i] = YMM()
		VMASKMOVPS(Mem{Base: at}, mask, rows[i])
		if i < 7 {
			ADDQ(fromRow, at)
		}
	}
	MOVQ(to, at)
	MOVQ(columns, left)
	for i, v := range transposed(rows) {
		VMOVUPS(v, Mem{Base: at})
		if i < 7 {
			DECQ(left)
			JEQ(LabelRef("next"))
			ADDQ(toRow, at)
		}
	}
	Label("next")
	ADDQ(fromTile, from)
	ADDQ(toTile, to)
	DECQ(n)
	JNE(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// transposed emits the transposition of 8 vectors in registers.
func transposed(r [8]reg.VecVirtual) (out [8]reg.VecVirtual) {
	var t, u [8]reg.VecVirtual
	for i := 0; i < 8; i += 2 {
		t[i], t[i+1] = YMM(), YMM()
		VUNPCKLPS(r[i+1], r[i], t[i])
		VUNPCKHPS(r[i+1], r[i], t[i+1])
	}
	for b := 0; b < 8; b += 4 {
		for i := range 4 {
			u[b+i] = YMM()
			VSHUFPS(Imm([]uint64{0x44, 0xEE}[i%2]), t[b+2+i/2], t[b+i/2], u[b+i])
		}
	}
	for i := range 4 {
		out[i], out[4+i] = YMM(), YMM()
		VPERM2F128(Imm(0x20), u[4+i], u[i], out[i])
		VPERM2F128(Imm(0x31), u[4+i], u[i], out[4+i])
	}
	return out
}

// gather emits the copy of 8 columns of packed panels.
func gather() {
	TEXT("gather", NOSPLIT, "func(rows int, to, from *float32, at *int32)")
	Doc("gather copies 8 columns of packed panels.")
	Pragma("noescape")
	n := Load(Param("rows"), GP64())
	to, from := Load(Param("to"), GP64()).(reg.GPVirtual), Load(Param("from"), GP64()).(reg.GPVirtual)
	at, v, all := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: Load(Param("at"), GP64()).(reg.GPVirtual)}, at)
	Label("row")
	VPCMPEQD(all, all, all)
	VGATHERDPS(all, Mem{Base: from, Index: at, Scale: 4}, v)
	VMOVUPS(v, Mem{Base: to})
	ADDQ(Imm(64), from)
	ADDQ(Imm(64), to)
	DECQ(n)
	JNE(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// broadcast loads float32 parameters into all places of vectors.
func broadcast(names ...string) map[string]reg.VecVirtual {
	m := map[string]reg.VecVirtual{}
	for _, name := range names {
		a, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		m[name] = YMM()
		VBROADCASTSS(a.Addr, m[name])
	}
	return m
}

// adam emits a step of Adam. Products and sums are rounded one by one, as in
// portable Go.
func adam() {
	TEXT("adam", NOSPLIT, "func(n int, p, d, m, v *float32, beta1, rest1, beta2, rest2, rate, eps, decay float32)")
	Doc("adam changes n parameters and their moments; n is a positive multiple of 8.")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	c := broadcast("beta1", "rest1", "beta2", "rest2", "rate", "eps", "decay")
	i := GP64()
	XORQ(i, i)
	at := map[string]Mem{}
	for _, name := range []string{"p", "d", "m", "v"} {
		at[name] = Mem{Base: Load(Param(name), GP64()).(reg.GPVirtual), Index: i, Scale: 4}
	}
	Label("loop")
	p, d, m, v, t := YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVUPS(at["p"], p)
	VMULPS(p, c["decay"], d)
	VADDPS(at["d"], d, d)
	VMULPS(at["m"], c["beta1"], m)
	VMULPS(d, c["rest1"], t)
	VADDPS(t, m, m)
	VMOVUPS(m, at["m"])
	VMULPS(d, d, d)
	VMULPS(d, c["rest2"], d)
	VMULPS(at["v"], c["beta2"], v)
	VADDPS(d, v, v)
	VMOVUPS(v, at["v"])
	VSQRTPS(v, v)
	VADDPS(c["eps"], v, v)
	VMULPS(m, c["rate"], m)
	VDIVPS(v, m, m)
	VSUBPS(m, p, p)
	VMOVUPS(p, at["p"])
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// polyak emits the average of two vectors.
func polyak() {
	TEXT("polyak", NOSPLIT, "func(n int, p, from *float32, tau float32)")
	Doc("polyak moves n parameters towards others; n is a positive multiple of 8.")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	p := Load(Param("p"), GP64()).(reg.GPVirtual)
	from := Load(Param("from"), GP64()).(reg.GPVirtual)
	tau := broadcast("tau")["tau"]
	i := GP64()
	XORQ(i, i)
	Label("loop")
	x, y := YMM(), YMM()
	VMOVUPS(Mem{Base: p, Index: i, Scale: 4}, x)
	VMOVUPS(Mem{Base: from, Index: i, Scale: 4}, y)
	VSUBPS(x, y, y)
	VMULPS(tau, y, y)
	VADDPS(y, x, x)
	VMOVUPS(x, Mem{Base: p, Index: i, Scale: 4})
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
