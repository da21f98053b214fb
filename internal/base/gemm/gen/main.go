package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	for _, m := range []int{8, 4, 2, 1} {
		multiply(wide, m)
	}
	for _, m := range []int{6, 4, 2, 1} {
		multiply(narrow, m)
	}
	transpose()
	gather()
	adam()
	polyak()
	c := newConstants("constants")
	exponential(c)
	squash(c)
	peak(wide)
	peak(narrow)
	Generate()
}

// set is an instruction set as the kernels use it.
type set struct {
	name    string
	bytes   int // of a vector
	columns int // of a tile: two vectors
	vector  func() reg.VecVirtual
}

var (
	wide   = set{"512", 64, 32, ZMM}
	narrow = set{"256", 32, 16, YMM}
)

func (s set) zero(v reg.VecVirtual) {
	if s.bytes == 64 {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// argument is the place of a field of a struct whose fields have 8 bytes each.
func argument(p reg.Register, fields []string, name string) Mem {
	for i, f := range fields {
		if f == name {
			return Mem{Base: p, Disp: 8 * i}
		}
	}
	panic("no field " + name)
}

func loadTo(m Mem, r reg.GPVirtual) reg.GPVirtual {
	MOVQ(m, r)
	return r
}

// peak emits a loop of ten independent chains of fused multiply-adds on
// registers: the most that a core can do.
func peak(s set) {
	TEXT("peak"+s.name, NOSPLIT, "func(loops int)")
	Doc("peak" + s.name + " does 10 multiply-adds of a vector, loops times.")
	n := Load(Param("loops"), GP64())
	x := s.vector()
	s.zero(x)
	var sums [10]reg.VecVirtual
	for i := range sums {
		sums[i] = s.vector()
		s.zero(sums[i])
	}
	Label("loop")
	for _, v := range sums {
		VFMADD231PS(x, x, v)
	}
	DECQ(n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
